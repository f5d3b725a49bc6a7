from policy_fixtures import play, see, start  # noqa: F401
