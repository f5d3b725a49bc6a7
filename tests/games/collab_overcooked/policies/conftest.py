from support.policy_fixtures import play, see, start  # noqa: F401
