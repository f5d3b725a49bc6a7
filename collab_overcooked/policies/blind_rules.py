"""Names of the blind rules of policy ``always``, see ``listed.BlindPolicy``."""

from __future__ import annotations

BLIND = "always"  # policy
RULES = {  # what each chooses of a list
    (RANDOM := "random"): "a random action",
    (NOTHING := "nothing"): "none, so that the seat waits",
    (NEVER_IDLE := "never-idle"): "a random one other than waiting",
    (NEVER_REPEAT := "never-repeat"): "a random one other than the last choice",
    (ALPHABETICAL := "alphabetical"): "the alphabetically first one",
    (LONGEST := "longest"): "the one with the longest text, other than waiting",
    (MENTIONED := "most-mentioned"): "the one whose words the state's text has most often",
    (NEWEST := "newest"): "the one that was first listed most recently",
    (RAREST := "rarest"): "the one whose words the fewest actions of the list share, on average",
    (ROUND_ROBIN := "round-robin"): "the one that was chosen least recently",
}
