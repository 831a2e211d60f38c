# The targets carry their help; `make` alone prints it. Node and make are all that has to be there.
.DEFAULT_GOAL := help
.PHONY: help install build run test check e2e bench proto image robustness compose-up compose-down clean format types lint imports generated

BIN := node_modules/.bin

help: ## tell what can be made
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: node_modules/.installed ## get the packages that package-lock.json names

node_modules/.installed: package.json package-lock.json
	npm ci
	@touch $@

build: install ## compile into dist
	@npm run --silent build

run: build ## start everything with an embedded store in .platform; the ready line names the kubeconfig (ARGS='--flag=value ...')
	@bin/platform up $(ARGS)

check: install ## format, types, lint and import boundaries, in under a minute
	@$(MAKE) --no-print-directory --keep-going format types lint imports

# Interfaces of the declared types: the compiler and the lint read them.
generated:
	@node deploy/build/make-types.mjs

format:
	@$(BIN)/prettier --check --cache --cache-location .cache/prettier --log-level warn .

types: generated
	@$(BIN)/tsc -p tsconfig.json --noEmit --tsBuildInfoFile .cache/check.tsbuildinfo

lint: generated
	@$(BIN)/eslint --cache --cache-location .cache/eslint --max-warnings 0 services test-e2e

imports: generated
	@$(BIN)/depcruise --config .dependency-cruiser.mjs --output-type err services test-e2e

test: build check .cache/etcd/provided .cache/kubectl/provided .cache/promtool/provided .cache/engine/provided .cache/compose/provided .cache/helm/provided .cache/definitions/provided .cache/envtest/provided ## everything that CI runs: check, unit, contract and end-to-end tests; the last line counts
	@node deploy/build/test.mjs unit e2e

e2e: build .cache/kubectl/provided .cache/promtool/provided .cache/engine/provided .cache/compose/provided .cache/helm/provided .cache/definitions/provided .cache/envtest/provided ## the end-to-end tests alone
	@node deploy/build/test.mjs e2e

bench: build ## measure against the limits of the machine
	@node dist/test-e2e/bench/main.js $(ARGS)

robustness: build .cache/etcd/provided ## break servers while clients work, and check what they saw (ARGS='--operations=20000 --faults=all ...')
	@bin/platform-robustness $(ARGS)

proto: build ## write proto/resource-api from the declarations of types
	@node deploy/build/make-proto.mjs

.cache/etcd/provided: deploy/etcd/get-etcd.mjs
	@node deploy/etcd/get-etcd.mjs
	@touch $@

# Without one its tests are skipped, and say so; CI does not go on.
.cache/kubectl/provided: deploy/kubectl/get-kubectl.mjs
	@node deploy/kubectl/get-kubectl.mjs && touch $@ || test -z "$$CI"

.cache/promtool/provided: deploy/promtool/get-promtool.mjs
	@node deploy/promtool/get-promtool.mjs && touch $@ || test -z "$$CI"

# A test suite starts what is provided here when no engine answers by itself; without one its tests are skipped, in CI they fail.
.cache/engine/provided: deploy/engine/get-engine.mjs
	@mkdir -p $(@D)
	@node deploy/engine/get-engine.mjs && touch $@ || test -z "$$CI"

.cache/compose/provided: deploy/compose/get-compose.mjs
	@mkdir -p $(@D)
	@node deploy/compose/get-compose.mjs && touch $@ || test -z "$$CI"

.cache/definitions/provided: deploy/definitions/get-definitions.mjs deploy/definitions/sources.json
	@node deploy/definitions/get-definitions.mjs && touch $@ || test -z "$$CI"

.cache/helm/provided: deploy/helm/get-helm.mjs
	@mkdir -p $(@D)
	@node deploy/helm/get-helm.mjs && touch $@ || test -z "$$CI"

.cache/envtest/provided: deploy/envtest/build-client.mjs test-e2e/clients/envtest/main.go | .cache/helm/provided
	@mkdir -p $(@D)
	@node deploy/envtest/build-client.mjs && touch $@ || test -z "$$CI"

image: install ## build the container image; BASE and BUILD_BASE name other base images than those made from Debian's packages
	@node deploy/images/make-image.mjs $(NAME)

compose-up: build ## a highly available cluster in containers: deploy/compose tells what it takes (PORT, IMAGE, ...)
	@node deploy/compose/compose.mjs up $(ARGS)

compose-down: ## end it; ARGS=--data removes its data as well
	@node deploy/compose/compose.mjs down $(ARGS)

clean: ## remove what was built, not what was downloaded
	rm -rf dist coverage services/machinery/types/generated .cache/prettier .cache/eslint .cache/check.tsbuildinfo
