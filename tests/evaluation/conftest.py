from policy_fixtures import scripted, talker  # noqa: F401
from run_fixtures import random_records, random_run, two_randoms  # noqa: F401
