# Recipes of the shipped policies, learning curves and results with partners; `make TARGET` runs them from the Makefile.

# The shipped policies, one training at a time; stopped ones go on. `make train-cramped_room` trains one configuration with
# several seeds, `make train-all` every one, `make baselines` measures all and ships the median seed of each; BRIEFLY="--steps 512"
# tries a target.
SEEDS ?= 0 1 2 3 4
PPO := cramped_room asymmetric_advantages coordination_ring forced_coordination counter_circuit locked cuisineworld_level_1 cuisineworld_level_4 collab_overcooked_level_1 kitchen_rush_easy kitchen_rush_hard collab_capture collab_escape housework_set_table transport_small craft_kitchen_field
PBT := $(addprefix pbt_,cramped_room asymmetric_advantages asymmetric_advantages_llmco coordination_ring forced_coordination counter_circuit locked gated_delivery)
GATED := gated_delivery_open gated_delivery_200 gated_delivery_40 gated_delivery_20 gated_delivery
TRAIN := OMP_NUM_THREADS=1 $(BIN)/collab-overcooked train
SEEDED := $(addprefix train-,$(PPO) $(PBT))
.PHONY: train-all baselines train-gated_delivery $(SEEDED)
$(addprefix train-,$(PPO)): ALGORITHM := ppo
$(addprefix train-,$(PBT)): ALGORITHM := pbt
$(SEEDED): train-%: $(STAMP)
	for seed in $(SEEDS); do $(TRAIN) $(ALGORITHM) --config $* --seed $$seed --out runs/train/$*-$$seed $(BRIEFLY) || exit 1; done
# Each part of gated_delivery starts from the policy of the one before of the same seed; configurations name that of seed 0.
train-gated_delivery: $(STAMP)
	for seed in $(SEEDS); do before=; for part in $(GATED); do $(TRAIN) ppo --config $$part --seed $$seed $${before:+--hyper start=runs/train/$$before-$$seed/policy.npz} --out runs/train/$$part-$$seed $(BRIEFLY) || exit 1; before=$$part; done; done
# The population of gated_delivery starts from the fourth of these parts.
train-pbt_gated_delivery: train-gated_delivery
# Random play delivers nothing on Collab-Overcooked, so its policy starts from a clone of greedy play.
CLONE := runs/clones/collab_overcooked_level_1
train-collab_overcooked_level_1: $(CLONE)/policy.npz
$(CLONE)/policy.npz: $(STAMP)
	$(BIN)/collab-overcooked evaluate collab-overcooked --levels 1 --team all=greedy --episodes 4 --no-report --out runs/clones/greedy
	$(TRAIN) bc CollabOvercooked-v0 --set level=1 --data runs/clones/greedy --hyper epochs=60 batch_size=32 "trunk=[64]" "heads=[64]" --out $(CLONE)
ESCAPES := runs/clones/collab_escape
train-collab_escape: $(ESCAPES)/policy.npz
$(ESCAPES)/policy.npz: $(STAMP)
	$(BIN)/collab-overcooked evaluate collab-escape --team all=noisy:0.1:planner --episodes 300 --no-report --out runs/clones/planned
	$(TRAIN) bc CollabEscape-v0 --data runs/clones/planned --hyper epochs=40 batch_size=64 "trunk=[128]" "heads=[64]" --out $(ESCAPES)
# Stand-ins for people in Overcooked: a clone of noisy and greedy play on each layout of LLM-Co's table 2, and a policy that
# starts from it and learns beside it.
PROXIES := cramped_room asymmetric_advantages asymmetric_advantages_llmco coordination_ring forced_coordination counter_circuit
PROXY := runs/proxies
.PHONY: train-proxies
.SECONDARY: $(addprefix $(PROXY)/bc_,$(addsuffix /policy.npz,$(PROXIES)))  # which make would delete at the end
train-proxies: $(addprefix $(PROXY)/ppo_bc_,$(addsuffix /policy.npz,$(PROXIES)))
	for name in $(addprefix bc_,$(PROXIES)) $(addprefix ppo_bc_,$(PROXIES)); do cp $(PROXY)/$$name/policy.npz collab_overcooked/policies/weights/$$name.npz; done
$(PROXY)/bc_%/policy.npz: $(STAMP)
	$(BIN)/collab-overcooked evaluate overcooked --layouts $* --team all=noisy:0.2 --episodes 20 --no-report --out $(PROXY)/$*-noisy
	$(BIN)/collab-overcooked evaluate overcooked --layouts $* --team all=greedy --episodes 2 --no-report --out $(PROXY)/$*-greedy
	$(TRAIN) bc Overcooked-v0 --set layout=$* obs=features --data $(PROXY)/$*-noisy $(PROXY)/$*-greedy --hyper "trunk=[64]" "heads=[64]" --out $(PROXY)/bc_$*
$(PROXY)/ppo_bc_%/policy.npz: $(PROXY)/bc_%/policy.npz
	$(TRAIN) ppo-bc --config ppo_bc --set layout=$* --hyper partners=[$<] start=$< --out $(PROXY)/ppo_bc_$*
train-all: $(SEEDED) train-gated_delivery train-proxies
baselines: $(STAMP)
	$(BIN)/python benchmarks/train_results.py runs/train --out docs/results/baselines.json --ship collab_overcooked/policies/weights

# Learning curves of both trainers in one file and of the built-in one with a central critic and with memory, drawn with intervals over the seeds.
CURVES := ippo vdn
CURVE_STEPS ?= 400000
CURVE_SEEDS ?= 0 1 2
.PHONY: curves
curves: $(STAMP)
	for method in $(CURVES); do for seed in $(CURVE_SEEDS); do OMP_NUM_THREADS=1 $(BIN)/python docs/trainers/$$method.py --env Overcooked-v0 --set layout=cramped_room obs=features --steps $(CURVE_STEPS) --seed $$seed --out runs/curves/$$method-$$seed || exit 1; done; done
	$(TRAIN) ppo --config cramped_room --steps $(CURVE_STEPS) --hyper critic=central --seeds $(CURVE_SEEDS) --out runs/curves/mappo
	$(TRAIN) ppo --config cramped_room --steps $(CURVE_STEPS) --hyper memory=gru:64 sequence=10 --seeds $(CURVE_SEEDS) --out runs/curves/ppo_rnn
	$(BIN)/collab-overcooked plot runs/curves --out runs/curves/curves.svg

# Egos trained to play with partners never met, and their scores beside those of a pool; stopped ones go on, BRIEFLY="--steps 600"
# tries it. `--stage apart members fill` of the script rebuilds the pool itself.
POOL ?= coordination_ring
.PHONY: partner-results
partner-results: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/partner_results.py $(POOL) $(BRIEFLY)

# Networks of different kinds for equal steps; stopped trainings go on, BRIEFLY="--steps 8000" tries it.
.PHONY: network-results
network-results: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/network_results.py $(BRIEFLY)

# Baselines with memory in layouts of OvercookedV2, three seeds each, and every seed beside every other; stopped ones go on.
# BRIEFLY="--steps 25600" tries it, BRIEFLY="--layout demo_cook_wide --method sp" runs a stage.
.PHONY: v2-results
v2-results: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/v2_results.py $(BRIEFLY)

# Cross-environment training: self-play in generated kitchens, then every seed beside every other in 100 kitchens of another
# seed and on the five layouts of Carroll et al.; stopped ones go on. BRIEFLY="--steps 512" CROSS_EPISODES=2 tries it.
CLASSIC := cramped_room asymmetric_advantages coordination_ring forced_coordination counter_circuit
CROSS_EPISODES ?= 100
CROSS := $(BIN)/collab-overcooked crossplay --env Overcooked-v0 --episodes $(CROSS_EPISODES) --pool $(foreach seed,$(SEEDS),seed_$(seed)=ppo:runs/cross/training-$(seed)/policy.npz)
.PHONY: cross-environment
cross-environment: $(STAMP)
	for seed in $(SEEDS); do $(TRAIN) ppo --config procedural_kitchens --seed $$seed --out runs/cross/training-$$seed $(BRIEFLY) || exit 1; done
	$(CROSS) --set layout=procedural "generator={seed: 1000000, count: 100, rooms: [1, 2]}" obs=features --out runs/cross/unseen
	for layout in $(CLASSIC); do $(CROSS) --set layout=$$layout obs=features --out runs/cross/$$layout || exit 1; done
