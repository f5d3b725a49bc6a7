"""OpenEnv environment of collab-overcooked: typed client and models."""

from .client import KitchenClient
from .models import KitchenAction, KitchenObservation, KitchenState

__all__ = ["KitchenAction", "KitchenClient", "KitchenObservation", "KitchenState"]
