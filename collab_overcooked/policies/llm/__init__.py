"""Language models as policies: prompts from template files, any OpenAI-compatible endpoint, every exchange kept."""
