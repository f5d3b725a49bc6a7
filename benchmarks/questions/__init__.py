"""Generation of question sets: draws scenes, proves their answers by search, and balances choices."""
