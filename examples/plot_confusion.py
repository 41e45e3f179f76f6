"""
Who is taken for whom?
======================

When was a speech given? Each class covers forty years. The classifier is trained on three quarters of the speeches and
tested on the rest. The confusion matrix shows the mistakes, which confuse neighbouring periods.
"""

from bursty import BayesClassifier, datasets, plot

corpus = datasets.load("sotu", stop_words="english", token_pattern=r"[^\W\d_]{3,}").filter_words(min_df=3)
eras = [f"{1790 + 40 * int(era)}s on" for era in (corpus.metadata["year"] - 1790) // 40]
corpus = corpus.with_labels(eras)
train, test = corpus.split(test_size=0.25, random_state=0)
model = BayesClassifier().fit(train)
ax = plot.confusion(test.labels, model.predict(test), names=list(corpus.label_names))
print(f"accuracy {model.score(test, test.labels):.2f}")
