from policy_fixtures import scripted, talker  # noqa: F401
