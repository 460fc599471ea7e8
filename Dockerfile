# What is published to npm is what runs here: the build stage packs it, the last stage holds nothing else.
ARG BASE=node:24-alpine@sha256:d32cdf619f63fe0471182d08996dd516c6275bb5fd31ae06e55a570bd9e1ad43
FROM --platform=$BUILDPLATFORM $BASE AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && npm pack --ignore-scripts && mkdir -p /out/app /out/data && tar -xzf toolmock-*.tgz -C /out/app --strip-components=1

# This stage runs no program, so that `npm run image` can build it for every architecture and on a base without a shell.
FROM $BASE
LABEL org.opencontainers.image.title=toolmock \
      org.opencontainers.image.description="A local, stateful mock of an agent tool-access service" \
      org.opencontainers.image.licenses=MIT
COPY --from=build /out/app /app
# The user has the number 1000 in every base. A new volume for /data takes over who owns it.
COPY --from=build --chown=1000:1000 /out/data /data
USER 1000:1000
WORKDIR /data
ENV NODE_ENV=production \
    TOOLMOCK_HOST=0.0.0.0 \
    TOOLMOCK_STATE=/data/state.json
VOLUME /data
EXPOSE 8665
# Without --start-interval, which older builders refuse.
HEALTHCHECK --interval=3s --timeout=3s --start-period=10s CMD ["node", "/app/dist/cli.js", "healthcheck"]
ENTRYPOINT ["node", "/app/dist/cli.js"]
