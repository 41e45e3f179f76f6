"""The numbers of all random streams: the key of a stream is (seed, sweep, document), see `random`.

Draws outside of sweeps over documents use numbers far above those of any sweep or document. Streams that are used with
the same seed have different numbers here; a new kind of draw adds its number to this list.
"""

from __future__ import annotations

# In place of the sweep; sweeps are numbered from 0 ------------------------------------------------------------

#: Trial sweeps of DPMFS during burn-in.
SEARCH = 2**39
#: The start of a chain: topics of tokens, labels of documents.
BEGINNING = 2**40
#: The order of the words of a document in left-to-right estimation.
WORD_ORDER = 2**41
#: Word probabilities of the topics of LDA, one stream per word: this plus the number of the sweep.
PHI = 2**42
#: Pseudo-documents, by their numbers: topic mixtures, and word probabilities.
PSEUDO_MIXTURES, PSEUDO_WORDS = 2**43, 2**44
#: Moves of blocks of tokens after a sweep, of a topic and of a word: this plus the number of the sweep.
RELABEL, REGROUP = 2**45, 2**46
#: Which tokens of a document are held out.
HELD = 2**47
#: PHI drawn on a GPU, one stream per pair of a word and a topic.
PHI_PAIRS = 2**48
#: Auxiliary variables of long documents on a GPU, and of words with many tokens: this plus the number of the sweep.
LONG_DOCUMENTS, HEAVY_WORDS = 2**49, 2**50
#: Words of the topics of DCMLDA, one stream per pair of a word and a topic: this plus the number of the sweep.
TOPIC_WORDS = 2**51
#: The sweep of which phi is drawn from the prior.
PRIOR = 2**62

# In place of the document, within a sweep of DPMFS; documents are 0 .. D - 1 ----------------------------------

NOISE, COMPONENTS, WORDS, TABLES, SPLITS = 2**41 - 1, 2**41, 2**42, 2**43, 2**44
SEATS, LAMBDA = 2**45, 2**46
