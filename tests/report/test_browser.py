"""Pages in a real browser, without a network: they open, answer, fit and ask nobody for anything."""

from __future__ import annotations

import base64
import copy
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from axe_core_python.selenium import Axe
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from bursty import Corpus, Mixture, report

KINDS = ["clusters", "discover", "topics", "classifier", "nasty-clusters", "nasty-topics", "nasty-classifier"]
PHONE, DESKTOP = 390, 1280


class Page:
    """A report in the browser."""

    def __init__(self, browser, path, width=DESKTOP, dark=False):
        self.browser, self.width = browser, width
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.paint(dark)
        browser.get("about:blank")
        for kind in ("browser", "performance"):
            browser.get_log(kind)
        browser.get(path.as_uri())
        self.until(lambda: self.run("return document.documentElement.dataset.drawn"))

    def paint(self, dark):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, still]})

    def run(self, script, *args):
        return self.browser.execute_script(script, *args)

    def until(self, condition):
        return WebDriverWait(self.browser, 30, poll_frequency=0.05).until(lambda _: condition())

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def open(self, tab):
        self.find(f"#tab-{tab}").click()

    def type(self, selector, text):
        """As a keyboard does, whatever the characters."""
        self.run(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
            self.find(selector),
            text,
        )

    def texts(self, selector):
        """At one moment: elements may be replaced between two questions."""
        return self.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def column(self, number):
        return self.texts(f"#table tbody tr td:nth-child({number})")

    def complaints(self):
        return [entry["message"] for entry in self.browser.get_log("browser")]

    def requests(self):
        events = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        sent = [event for event in events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]


def screenshot(page, path):
    """The whole page, for people to look at; its size in bytes."""
    height = min(6000, page.run("return document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": page.width, "height": height, "scale": 1}
    shot = page.browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.write_bytes(base64.b64decode(shot["data"]))


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
@pytest.mark.parametrize("kind", KINDS)
def test_opens_without_complaint_request_or_overflow(browser, pages, kind, width):
    page = Page(browser, pages[kind], width)
    for tab in page.all("[role=tab]"):
        tab.click()
        assert page.run("return document.documentElement.scrollWidth") <= width, f"{tab.text} is wider than the screen"
    assert page.complaints() == []
    assert [url for url in page.requests() if not url.startswith(("file:", "data:", "about:"))] == []
    assert page.run("return window.hacked") is None
    charts = page.run("return [...document.querySelectorAll('.chart')].map(c => c.querySelectorAll('svg').length)")
    assert set(charts) == {1}


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
@pytest.mark.parametrize("kind", ["clusters", "discover", "topics", "classifier"])
def test_screenshots_in_light_and_dark(browser, pages, kind, width, tmp_path):
    folder = Path(os.environ.get("BURSTY_SCREENSHOTS", tmp_path))
    page = Page(browser, pages[kind], width)
    sizes = []
    for scheme in ("light", "dark"):
        page.paint(dark=scheme == "dark")
        for tab in page.all("[role=tab]"):
            tab.click()
            sizes.append(screenshot(page, folder / f"{kind}-{width}-{scheme}-{tab.get_attribute('aria-controls')}.png"))
    assert min(sizes) > 10_000, "a screenshot is blank"


@pytest.mark.parametrize(
    ("kind", "dark"),
    [("clusters", False), ("discover", False), ("topics", False), ("classifier", False), ("topics", True)],
)
def test_is_accessible(browser, pages, kind, dark):
    page = Page(browser, pages[kind], dark=dark)
    page.run("document.querySelectorAll('[role=tabpanel]').forEach(panel => panel.hidden = false)")
    found = Axe().run(browser, context={"exclude": [[".chart"]]}, options={"resultTypes": ["violations"]})
    assert [(rule["id"], [node["html"][:150] for node in rule["nodes"][:3]]) for rule in found["violations"]] == []
    described = page.run("return [...document.querySelectorAll('.chart')].map(c => c.getAttribute('aria-label'))")
    assert all(described)


CELLS = """
const seen = (element, name) => getComputedStyle(element).getPropertyValue(name);
const shades = [...document.querySelectorAll(".chart [class*=shade_marks] path")];
const texts = [...document.querySelectorAll(".chart [class*=cell_marks] text")];
const paper = getComputedStyle(document.body).backgroundColor;
return shades.map((shade, i) => [paper, seen(shade, "fill"), seen(shade, "fill-opacity"), seen(texts[i], "fill")]);
"""


def luminance(colour):
    """Relative luminance, as the accessibility guidelines of the W3C have it, of a colour from 0 to 255."""
    shares = np.asarray(colour) / 255.0
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("kind", ["topics", "classifier"])
def test_heat_maps_can_be_read_and_little_is_near_the_paper(browser, pages, kind, dark):
    cells = Page(browser, pages[kind], dark=dark).run(CELLS)
    assert cells
    for paper, fill, opacity, ink in cells:
        paper, fill, ink = (np.array([float(n) for n in re.findall(r"[\d.]+", c)][:3]) for c in (paper, fill, ink))
        shade = luminance(float(opacity) * fill + (1.0 - float(opacity)) * paper)
        low, high = sorted([shade, luminance(ink)])
        assert (high + 0.05) / (low + 0.05) >= 4.5
        assert abs(shade - luminance(paper)) < 0.1 or float(opacity) > 0.05


def test_tabs_by_mouse_and_by_keyboard(browser, pages):
    page = Page(browser, pages["clusters"])
    names = [tab.get_attribute("aria-controls") for tab in page.all("[role=tab]")]
    assert names == ["overview", "clusters", "tree", "documents", "words", "run"]

    def shown():
        selected = [t.get_attribute("aria-controls") for t in page.all("[role=tab][aria-selected=true]")]
        visible = [panel.get_attribute("id") for panel in page.all("[role=tabpanel]") if panel.is_displayed()]
        assert selected == visible
        return visible

    assert shown() == ["overview"]
    page.open("words")
    assert shown() == ["words"]
    for key, expected in [
        (Keys.ARROW_RIGHT, "run"),
        (Keys.ARROW_RIGHT, "overview"),
        (Keys.END, "run"),
        (Keys.HOME, "overview"),
    ]:
        browser.switch_to.active_element.send_keys(key)
        assert shown() == [expected]
    browser.get(pages["clusters"].as_uri() + "#documents")
    browser.refresh()
    assert shown() == ["documents"]


def test_table_searches_sorts_narrows_and_turns_pages(browser, pages, corpus, mixture):
    page = Page(browser, pages["clusters"])
    page.open("documents")
    assert page.find("#table-status").text == "1 to 25 of 120 documents"
    page.type("#table-search", "DOC 119")
    page.until(lambda: page.column(1) == ["doc 119"])
    page.type("#table-search", "north 1901")
    page.until(lambda: page.column(1) == ["doc 4", "doc 6"])
    page.type("#table-search", "no such thing")
    page.until(lambda: page.find("#table-status").text == "0 documents")
    page.type("#table-search", "")
    page.until(lambda: page.find("#table-status").text.endswith("of 120 documents"))

    lengths = np.asarray(corpus.counts.sum(axis=1)).ravel()
    head = page.find("#table thead th:nth-child(9)")
    head.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert page.column(9) == [str(n) for n in sorted(lengths, reverse=True)[:25]]
    head.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert page.column(9) == [str(n) for n in sorted(lengths)[:25]]

    page.find("#table-next").click()
    assert page.column(9) == [str(n) for n in sorted(lengths)[25:50]]
    assert page.find("#table-page").text == "Page 2 of 5"
    Select(page.find("#table-size")).select_by_visible_text("100")
    assert len(page.column(1)) == 100
    Select(page.find("#table-filter")).select_by_value("0")
    size = int(mixture.sizes_.max())
    assert page.find("#table-status").text == f"1 to {size} of {size} documents"


def test_slider_ranks_words_by_relevance(browser, pages, topics):
    page = Page(browser, pages["topics"])
    page.open("topics")
    order = np.argsort([-float(t["share"].rstrip("%")) for t in page.run("return data.topics")], kind="stable")
    assert order[0] == 0
    title = page.run("return data.topics[1].title")
    k = next(k for k, name in enumerate(topics.names_) if title.endswith(name))
    Select(page.find("#topic")).select_by_value("1")

    def words():
        return page.run("return charts['topic-words'].view.data('words').map(row => row.word)")

    slider = page.find("#relevance")
    weight = float(slider.get_attribute("value"))
    assert words()[:3] == topics.top_words(3, by="relevance", weight=weight)[k]
    slider.send_keys(Keys.HOME)
    assert page.find("#relevance-value").text == "0.0"
    page.until(lambda: set(words()[:5]) == set(topics.top_words(5, "relevance", 0.0)[k]))
    slider.send_keys(Keys.END)
    assert page.find("#relevance-value").text == "1.0"
    page.until(lambda: words()[:5] == topics.top_words(5, "relevance", 1.0)[k])
    page.find("#topic-facts .chips button").click()
    assert page.find("#topic").get_attribute("value") != "1"
    assert page.complaints() == []


def test_the_legend_of_a_map_has_whole_names_on_a_phone(browser, corpus, mixture, tmp_path):
    names = ["Observations and measurements of the winter", "Proceedings of the meetings"]
    path = tmp_path / "named.html"
    report.write(path, copy.deepcopy(mixture).rename(dict(enumerate(names))), corpus)
    page = Page(browser, path, PHONE)
    shown = page.texts("[data-chart=map] .role-legend-label text")
    assert {f"{number}: {name}" for number, name in enumerate(names, start=1)} <= set(shown)


def test_a_link_leads_to_a_tab_and_the_tree_is_cut_anywhere(browser, pages, topics):
    page = Page(browser, pages["topics"])
    page.run("location.hash = '#tree'")
    page.until(lambda: page.find("#tree").is_displayed())
    assert page.run("return scrollY") == 0
    for n in (1, 4):
        page.run("const s = byId('branches'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))", n)
        assert len(page.all("#branch-list > li")) == n
    assert [text.split(": ")[1] for text in sorted(page.texts("#branch-list strong"))] == topics.names_
    page.open("documents")
    assert page.run("return location.hash") == "#documents"
    assert page.complaints() == []


def test_word_lookup(browser, pages, corpus):
    page = Page(browser, pages["clusters"])
    page.open("words")
    page.type("#word", "WORD17")
    page.until(lambda: "word17 occurs" in page.find("#word-answer").text)
    column = corpus.counts[:, [17]].toarray().ravel()
    times, documents = column.sum(), np.count_nonzero(column)
    expected = f"occurs {times} times, in {documents} documents: {times / documents:.2f} times per document"
    assert expected in page.find("#word-answer").text
    page.type("#word", "ord4")
    page.until(lambda: "word44" in page.texts("#word-suggestions button"))
    page.find("#word-suggestions button").click()
    assert page.find("#word-answer strong").text == page.find("#word").get_attribute("value")
    page.type("#word", "zzz")
    page.until(lambda: "No matching words" in page.find("#word-answer").text)
    assert page.complaints() == []


@pytest.mark.parametrize(
    ("kind", "tab", "selector"),
    [
        ("clusters", "clusters", ".card .chips button"),
        ("clusters", "clusters", ".card .bursts button"),
        ("discover", "overview", "#overview .chips button"),
        ("topics", "topics", "#topic-facts .bursts button"),
    ],
)
def test_a_word_that_is_clicked_is_looked_up(browser, pages, kind, tab, selector):
    page = Page(browser, pages[kind])
    page.open(tab)
    button = page.find(selector)
    word = button.text
    button.click()
    assert page.run("return location.hash") == "#words"
    assert page.find("#word-answer strong").text == page.find("#word").get_attribute("value") == word
    assert word in page.texts("#word-suggestions button")
    assert page.complaints() == []


def test_a_bar_of_a_topic_looks_its_word_up(browser, pages, corpus):
    page = Page(browser, pages["topics"])
    # Labels of charts take no clicks, which are those of the chart at that place.
    click = """
        const labels = [...document.querySelectorAll("[data-chart=topic-words] .role-axis-label text")];
        const {left, top, height} = labels.find(label => label.textContent === arguments[0]).getBoundingClientRect();
        document.elementFromPoint(left + 1, top + height / 2).dispatchEvent(
            new MouseEvent("click", {bubbles: true, clientX: left + 1, clientY: top + height / 2}))
    """
    page.open("topics")
    words = [text for text in page.texts("[data-chart=topic-words] .role-axis-label text") if text in corpus.vocabulary]
    assert len(words) > 5
    for word in words[:6]:
        page.open("topics")
        page.run(click, word)
        assert page.find("#word-answer strong").text == word
    assert page.complaints() == []


def test_colours_can_be_changed_by_hand(browser, pages):
    page = Page(browser, pages["clusters"], dark=True)
    paper = "return getComputedStyle(document.body).backgroundColor"
    dark, button = page.run(paper), page.find("#theme")
    assert button.text == "Light colours"
    button.click()
    assert page.run(paper) == "rgb(255, 255, 255)" != dark
    assert button.text == "Dark colours"


def test_every_part_is_printed(browser, pages):
    page = Page(browser, pages["topics"], dark=True)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    visible = [panel.get_attribute("id") for panel in page.all("[role=tabpanel]") if panel.is_displayed()]
    assert visible == ["overview", "topics", "tree", "trends", "documents", "run"]
    assert not page.find("#tabs").is_displayed()
    assert page.run("return getComputedStyle(document.body).color") == "rgb(27, 31, 36)"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_nasty_names_are_shown_as_they_are(browser, pages):
    page = Page(browser, pages["nasty-clusters"])
    page.open("words")
    for query, expected in [
        ("<script>win", "<script>window.hacked=1</script>"),
        ("שלום", "שלום"),
        ("__proto__", "__proto__"),
    ]:
        page.type("#word", query)
        page.until(lambda expected=expected: expected in page.texts("#word-suggestions button"))
    page.type("#word", "xxxxxxxx")
    page.until(lambda: len(page.all("#word-suggestions button")) == 2)
    assert len(set(page.texts("#word-suggestions button"))) == 2
    page.open("documents")
    assert page.column(1)[0].startswith("<script>window.hacked=1</script>")
    assert page.run("return window.hacked") is None


@pytest.mark.filterwarnings("ignore:1 of 2 clusters ha(s|ve) no documents")
def test_twenty_thousand_documents(browser, tmp_path):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.3, (20_000, 30))
    counts[:, 0] += 1
    corpus = Corpus(counts, [f"word{i}" for i in range(30)], ids=[f"document {i}" for i in range(20_000)])
    model = Mixture.from_paper("elkan2006", 2, max_iter=3, tol=1e-2, random_state=0).fit(corpus)
    page = Page(browser, report.write(tmp_path / "big.html", model, corpus))
    page.open("documents")
    assert page.find("#table-status").text == "1 to 25 of 10,000 documents"
    assert page.find("#table-part").text.startswith("The table has 10,000 of 20,000 documents: ")
    assert len(page.all("#table tbody tr")) == 25
    one = page.column(1)[7]
    page.type("#table-search", f"{one} ")
    page.until(lambda: not page.find("#table-status").text.endswith("of 10,000 documents"))
    assert one in page.column(1)
    assert page.run("return charts['map'].view.data('source_0').length") <= 3000
