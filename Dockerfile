# The image of every process: `docker run IMAGE apiserver --help`. Any builder takes it; the bases may be exchanged, see
# deploy/images. The last stage has no shell: the program, Node, and what Node needs.
ARG BUILD_BASE=node:20-bookworm-slim
ARG BASE=node:20-bookworm-slim

FROM ${BUILD_BASE} AS build
# Where packages come from, when that is not what npm asks by default.
ARG NPM_CONFIG_REGISTRY
WORKDIR /src
COPY package.json package-lock.json ./
COPY deploy/build/absent deploy/build/absent
RUN npm ci --no-audit --no-fund
COPY . .
# What `/version` tells, and the latest time of a file: the same commit gives the same image.
ARG SOURCE_DATE_EPOCH
ARG SOURCE_COMMIT
RUN npm run --silent build && node deploy/images/collect.mjs /image

FROM ${BASE}
COPY --from=build /image /
# As in bin/platform, whose first line says why.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=1048576
USER 65532:65532
ENTRYPOINT ["node", "--max-semi-space-size=8", "/opt/platform/bin/platform"]
CMD ["--help"]
