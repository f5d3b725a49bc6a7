"""Games on graphs of rooms: players catch a thief, or repair generators and escape from a killer."""
