"""The numbers of all random streams: a stream is named by (seed, sweep, document), see `random`.

What is not a sweep over documents takes numbers far above any sweep's, or any document's. Streams that stand side by
side under one seed have different names here; whoever draws something new adds its number to this list.
"""

from __future__ import annotations

# In the place of a sweep, which are numbered from 0 -----------------------------------------------------------

#: What a chain begins with: topics of tokens, labels of documents.
BEGINNING = 2**40
#: The order in which left-to-right estimation takes a document's words.
WORD_ORDER = 2**41
#: Word probabilities of LDA's topics, one stream a word: this plus the number of the sweep.
PHI = 2**42
#: Pseudo documents, by their numbers: topic mixtures, and word probabilities.
PSEUDO_MIXTURES, PSEUDO_WORDS = 2**43, 2**44
#: Moves of blocks of tokens after a sweep, of a topic's and of a word's: this plus the number of the sweep.
RELABEL, REGROUP = 2**45, 2**46
#: Which tokens of a document are held out.
HELD = 2**47
#: PHI drawn on a card, one stream for each pair of a word and a topic.
PHI_PAIRS = 2**48
#: The sweep of which phi is drawn from the prior.
PRIOR = 2**62

# In the place of a document, within a sweep of DPMFS; documents are 0 .. D - 1 --------------------------------

NOISE, COMPONENTS, WORDS, TABLES, SPLITS = 2**41 - 1, 2**41, 2**42, 2**43, 2**44
