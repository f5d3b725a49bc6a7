"""MindAgent's Minecraft task without Minecraft: agents with inventories fetch meat and logs, cook and fill a chest."""
