// The boundaries between packages, as CONTRIBUTING.md draws them: imports only ever point towards protocol.
const packageOf = (name) => `^(packages|testing)/${name}/`;

/** What each package may import of the others. A package that is not listed here may import nothing. */
const allowed = {
  protocol: [],
  risk: ['protocol'],
  policy: ['protocol'],
  log: ['protocol'],
  identity: ['protocol'],
  'tool-call': ['protocol'],
  client: ['protocol'],
  recorder: ['client', 'protocol', 'tool-call'],
  server: ['protocol', 'log', 'identity', 'policy', 'risk', 'console', 'docs', 'tool-call'],
  'adapter-suite': ['protocol', 'client', 'recorder', 'server'],
  'foreign-server': [],
  'test-browser': [],
  contract: ['protocol', 'client'],
  msw: ['protocol', 'policy', 'risk'],
  console: ['protocol', 'client'],
  docs: ['protocol'],
  gateway: ['recorder', 'client', 'protocol', 'identity'],
  hook: ['recorder', 'client', 'protocol'],
  cli: ['client', 'recorder', 'server', 'contract', 'protocol', 'log', 'policy', 'risk', 'gateway', 'hook'],
};

/**
 * Folders of a package from the bottom up. A folder may import those before it. In client, tool-call and recorder it may
 * also import the files beside the folders.
 */
const layers = {
  client: [
    'errors',
    'retry',
    'response',
    'transport',
    'request',
    'export',
    'pagination',
    'webhooks',
    'resources',
  ],
  'tool-call': ['names', 'arguments', 'outcome', 'spans'],
  recorder: [
    'lib',
    'events',
    'reporting',
    'origins',
    'delivery',
    'journal',
    'outbox',
    'spool',
    'guard',
    'recording',
    'adapter',
    'loop',
    'short-lived',
  ],
  server: [
    'lib',
    'storage',
    'observability',
    'tenants',
    'users',
    'guardian',
    'policy',
    'webhooks',
    'risk',
    'ingest',
    'deletion',
    'background',
    'http',
    'evidence',
    'forward',
    'history',
    'resources',
    'otlp',
    'server-api',
    'administration',
    'sign-in',
    'console',
    'cli',
  ],
};

const tests = '(\\.test(-d)?\\.ts$|^(packages|testing)/([^/]+|adapters/[^/]+)/tests/)';

module.exports = {
  forbidden: [
    ...Object.entries(allowed).map(([name, others]) => ({
      name: `${name}-imports`,
      comment: `${name} may import ${others.length > 0 ? others.join(', ') : 'no other package'}; tests may import more.`,
      severity: 'error',
      from: { path: packageOf(name), pathNot: tests },
      to: {
        path: '^(packages|testing)/',
        pathNot: [packageOf(name), ...others.map(packageOf)],
      },
    })),
    ...Object.entries(layers).flatMap(([name, folders]) =>
      folders.slice(0, -1).map((folder, index) => ({
        name: `${name}-${folder}-imports`,
        comment: `In ${name}, ${folder} is below ${folders.slice(index + 1).join(', ')}.`,
        severity: 'error',
        from: { path: `${packageOf(name)}src/${folder}/`, pathNot: tests },
        to: { path: folders.slice(index + 1).map((above) => `${packageOf(name)}src/${above}/`) },
      })),
    ),
    {
      name: 'server-folders-import-no-root-file',
      comment:
        'The files at the root of the server assemble its folders; only the command above them imports them.',
      severity: 'error',
      from: { path: '^packages/server/src/[^/]+/', pathNot: [tests, '^packages/server/src/cli/'] },
      to: { path: '^packages/server/src/[^/]+$' },
    },
    {
      name: 'adapter-imports',
      comment: 'An adapter imports recorder, tool-call, client and protocol, and never another adapter.',
      severity: 'error',
      from: { path: '^packages/adapters/([^/]+)/', pathNot: tests },
      to: {
        path: '^(packages|testing)/',
        pathNot: ['^packages/adapters/$1/', '^packages/(recorder|tool-call|client|protocol)/'],
      },
    },
    {
      name: 'nothing-imports-an-adapter',
      severity: 'error',
      from: { path: '^(packages/(?!adapters/)|testing/)', pathNot: tests },
      to: { path: '^packages/adapters/' },
    },
    {
      name: 'pure-packages-do-no-io',
      comment: 'protocol, policy and risk run anywhere: no node: module.',
      severity: 'error',
      from: { path: '^packages/(protocol|policy|risk)/src/', pathNot: tests },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'tool-spans-do-no-io',
      comment: 'The rules about spans are pure: no node: module.',
      severity: 'error',
      from: { path: '^packages/tool-call/src/spans/', pathNot: tests },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'undici-without-its-globals',
      comment:
        'The main module of undici installs the global dispatcher of the process: load it as client/undici does.',
      severity: 'error',
      from: { path: '^packages/', pathNot: [tests, '\\.d\\.ts$'] },
      to: { path: 'node_modules/undici/index', dependencyTypesNot: ['type-only', 'pre-compilation-only'] },
    },
    {
      name: 'no-tests-in-sources',
      severity: 'error',
      from: { path: '^(packages|testing)/', pathNot: tests },
      to: { path: tests },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment:
        'A test generates the types that the program of openapi-clients imports, and the bundle of the console contains the policy packs.',
      severity: 'error',
      from: { pathNot: '^testing/openapi-clients/program/' },
      to: { couldNotResolve: true, pathNot: '^policy-packs$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // The peers of a benchmark are installed when it first runs.
    exclude: { path: '((^|/)dist/|^bench/peers/)' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@actlog/source', 'import', 'node', 'default', 'types'],
      extensions: ['.ts', '.mjs', '.js', '.json', '.d.ts'],
    },
  },
};
