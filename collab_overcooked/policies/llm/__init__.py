"""Language models as policies: prompts from templates, OpenAI-compatible endpoints, stored exchanges."""
