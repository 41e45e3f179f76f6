"""Topic models: prediction of the hidden half of documents, coherence, diversity, stability, speed and memory."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks import topics_quality
from benchmarks.peers.harness import MEMORY, Case, Column, Contender, Peak, clock
from bursty import DCMLDA, LDA
from bursty.metrics import coherence, diversity, document_completion, match_topics


def load(short: bool, *, name: str, n_topics: int) -> Any:
    """A split into training and test documents; a short run trains on 200 documents."""
    split = topics_quality.load(name, None)
    if short:
        split = topics_quality.Split(split.train[:200], split.observed[:50], split.held[:50])
    return split, n_topics, {}


def judge(name: str, fit: Callable[[Any, int, int], Any], data: Any, seed: int) -> Mapping[str, float]:
    """Fit and measure; stability is the overlap with the topics of earlier rounds."""
    split, n_topics, earlier = data
    began, peak = clock(), Peak()
    model = fit(split.train, n_topics, seed)
    seconds, memory = clock() - began, peak.mebibytes()
    shown = model.word_scores() if hasattr(model, "word_scores") else model.components_
    found = {
        "perplexity": float(document_completion(model, split.observed, split.held, random_state=0)),
        "npmi": float(np.mean(coherence(model.components_, split.train))),
        "npmi_shown": float(np.mean(coherence(shown, split.train))),
        "diversity": float(diversity(model.components_)),
        "diversity_shown": float(diversity(shown)),
        "seconds": seconds,
        "memory": memory,
        "speed": split.train.sum() * (PASSES.get(name) or _sweeps(model)) / seconds / 1e6,
    }
    models = earlier.setdefault(name, [])
    models.append(model)
    if len(models) > 1 and len({len(one.components_) for one in models}) == 1:
        pairs = itertools.combinations(models, 2)
        found["stability"] = float(np.mean([match_topics(a, b)[1].mean() for a, b in pairs]))
    return found


def with_sklearn(train: Any, n_topics: int, seed: int) -> topics_quality.Peer:
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(n_topics, max_iter=20, learning_method="batch", random_state=seed).fit(train)
    components = model.components_ / model.components_.sum(axis=1, keepdims=True)
    return topics_quality.Peer(np.full(n_topics, model.doc_topic_prior_), components)


def with_gensim(train: Any, n_topics: int, seed: int) -> topics_quality.Peer:
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel

    words = {i: str(i) for i in range(train.shape[1])}
    corpus = Sparse2Corpus(train, documents_columns=False)
    model = LdaModel(corpus, n_topics, words, alpha="auto", eta="auto", passes=10, random_state=seed)
    return topics_quality.Peer(np.asarray(model.alpha, dtype=np.float64), _proportions(model.get_topics()))


def with_lda(train: Any, n_topics: int, seed: int) -> topics_quality.Peer:
    import lda

    model = lda.LDA(n_topics=n_topics, n_iter=1000, random_state=seed, refresh=10_000)
    model.fit(train.astype(np.int64).toarray())
    return topics_quality.Peer(np.full(n_topics, model.alpha), _proportions(model.topic_word_))


def with_hdp(train: Any, n_topics: int, seed: int) -> topics_quality.Peer:
    """tomotopy's HDP, whose number of topics is its own."""
    model = hdp(train, seed)
    live = [k for k in range(model.k) if model.is_live_topic(k)]
    components = np.zeros((len(live), train.shape[1]))
    own = [int(word) for word in model.used_vocabs]
    for row, k in enumerate(live):
        components[row, own] = model.get_topic_word_dist(k)
    sizes = np.asarray(model.get_count_by_topics(), dtype=np.float64)[live]
    return topics_quality.Peer(model.alpha * sizes / sizes.sum() + 1e-6, _proportions(components))


def hdp(counts: Any, seed: int) -> Any:
    """tomotopy's HDP with its own settings, after 1000 sweeps."""
    import tomotopy

    model = tomotopy.HDPModel(seed=seed)
    for row in range(counts.shape[0]):
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        if cells.stop > cells.start:
            model.add_doc([str(word) for word in np.repeat(counts.indices[cells], counts.data[cells])])
    model.train(1000, workers=1)
    return model


def _sweeps(model: Any) -> int:
    return model.n_iter_ * model.n_sweeps + model.burn_in + model.n_samples


def _proportions(topics: Any) -> Any:
    topics = np.maximum(np.asarray(topics, dtype=np.float64), 1e-12)
    return topics / topics.sum(axis=1, keepdims=True)


FITS: dict[str, tuple[Callable[[Any, int, int], Any], str]] = {
    "DCMLDA": (lambda train, k, seed: DCMLDA(k, random_state=seed).fit(train), "bursty"),
    "LDA": (lambda train, k, seed: LDA(k, random_state=seed).fit(train), "bursty"),
    "tomotopy LDA": (topics_quality.fit_tomotopy, "tomotopy"),
    "tomotopy HDP": (with_hdp, "tomotopy"),
    "lda": (with_lda, "lda"),
    "gensim": (with_gensim, "gensim"),
    "scikit-learn": (with_sklearn, "scikit-learn"),
}
#: Passes over the documents; ours stop by themselves.
PASSES = {"tomotopy LDA": 1000, "tomotopy HDP": 1000, "lda": 1000, "gensim": 10, "scikit-learn": 20}
COLUMNS = (
    Column("perplexity", "perplexity of the hidden halves", "low"),
    Column("npmi", "NPMI", "high"),
    Column("npmi_shown", "NPMI, as shown", "high"),
    Column("diversity", "diversity", "high"),
    Column("diversity_shown", "diversity, as shown", "high"),
    Column("stability", "stability", "high"),
    Column("seconds", "fit, s", "low", is_time=True),
    Column("speed", "M tokens/s per pass", "high"),
    MEMORY,
)


def case(name: str, n_topics: int, data: str) -> Case:
    return Case(
        name=f"topics-{name}",
        title=f"Topics, {data.partition(':')[0]}",
        work=f"{n_topics} topics (HDP finds its own number); one half of each test document is predicted from the "
        "other. NPMI and diversity are those of the ten most probable words per topic and, *as shown*, of the ten that "
        "`top_words` of bursty lists. Stability is the mean overlap of matched topics between seeds.",
        data=f"{data}; settings of DCMLDA and the ranking of its words were chosen on it and others",
        load=partial(load, name=name, n_topics=n_topics),
        contenders={label: Contender(partial(judge, label, fit), package) for label, (fit, package) in FITS.items()},
        columns=COLUMNS,
        rounds=(3, 1),
        slow=("lda", "tomotopy HDP"),
    )


CASES = [
    case("nips391", 20, "nips391: conference papers, long documents"),
    case("short-TS", 50, "short/TS: titles and snippets"),
]
