"""Studies with people: consent, conditions in balanced order, questionnaires, rehearsal and export."""
