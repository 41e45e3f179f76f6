"use strict";
function startTabs() {
  const tabs = [...document.querySelectorAll('[role="tab"]')];
  const show = (tab, focus) => {
    for (const other of tabs) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      byId(other.getAttribute("aria-controls")).hidden = !chosen;
    }
    if (focus) tab.focus();
    // scrollIntoView would scroll the pages around a report, too.
    const [bar, own] = [byId("tabs"), tab].map((element) => element.getBoundingClientRect());
    byId("tabs").scrollLeft += Math.min(0, own.left - bar.left) + Math.max(0, own.right - bar.right);
  };
  // The address names the tab, so that a link leads to it.
  const note = (tab) => history.replaceState(null, "", "#" + tab.getAttribute("aria-controls"));
  const moves = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => {
      show(tab, false);
      note(tab);
    });
    tab.addEventListener("keydown", (event) => {
      const move = moves[event.key];
      if (move === undefined) return;
      event.preventDefault();
      const next = Number.isFinite(move) ? (i + move + tabs.length) % tabs.length : move < 0 ? 0 : tabs.length - 1;
      show(tabs[next], true);
      note(tabs[next]);
    });
  });
  const named = () => tabs.find((tab) => "#" + tab.getAttribute("aria-controls") === location.hash);
  byId("tabs").hidden = false;
  // A link leads to the tab, and its reader sees the page from the top.
  const follow = () => {
    const tab = named();
    if (!tab) return;
    show(tab, false);
    byId(tab.getAttribute("aria-controls")).blur();
    scrollTo(0, 0);
  };
  show(tabs[0], false);
  follow();
  addEventListener("hashchange", follow);
  addEventListener("load", follow);
}

function startTheme() {
  const button = byId("theme");
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => (button.textContent = isDark() ? "Light colours" : "Dark colours");
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  system.addEventListener("change", name);
  button.hidden = false;
  name();
}
