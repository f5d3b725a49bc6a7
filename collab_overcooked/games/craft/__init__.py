"""MindAgent's Minecraft task without Minecraft: cooks with inventories fetch meat and logs, cook and fill a chest."""
