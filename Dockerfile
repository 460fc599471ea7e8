# What is published to npm is what runs here: the build stage packs it, the last stage holds nothing else.
FROM node:24-alpine AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && npm pack --ignore-scripts && mkdir /app && tar -xzf toolmock-*.tgz -C /app --strip-components=1

FROM node:24-alpine
COPY --from=build /app /app
RUN mkdir /data && chown node:node /data
USER node
WORKDIR /data
ENV NODE_ENV=production \
    TOOLMOCK_HOST=0.0.0.0 \
    TOOLMOCK_STATE=/data/state.json
VOLUME /data
EXPOSE 8665
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --start-interval=1s CMD ["node", "/app/dist/cli.js", "healthcheck"]
ENTRYPOINT ["node", "/app/dist/cli.js"]
