// Loads the parts of undici that actlog uses. The main module of undici would also install the global dispatcher of the
// process, and so replace a proxy, a mock or client certificates of the program; these files do not touch it.
// Written apart from the sources so that package.json ("imports") can put `absent.js` in its place where a bundler
// builds for a browser or a worker.
export const loadUndici = async () => {
  const [api, connect, Dispatcher, Agent, EnvHttpProxyAgent, Pool, ProxyAgent] = (
    await Promise.all([
      import('undici/lib/api/index.js'),
      import('undici/lib/core/connect.js'),
      import('undici/lib/dispatcher/dispatcher.js'),
      import('undici/lib/dispatcher/agent.js'),
      import('undici/lib/dispatcher/env-http-proxy-agent.js'),
      import('undici/lib/dispatcher/pool.js'),
      import('undici/lib/dispatcher/proxy-agent.js'),
    ])
  ).map((module) => module.default);
  // The main module does the same: without it, a dispatcher has no `request`.
  if (!('request' in Dispatcher.prototype)) Object.assign(Dispatcher.prototype, api);
  return { Agent, buildConnector: connect, EnvHttpProxyAgent, Pool, ProxyAgent };
};
