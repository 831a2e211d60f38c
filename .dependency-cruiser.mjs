/** A room of services may import itself and the rooms below it, nothing else of ours: imports go down only (docs/adr/0001). */
const layer = (room, ...below) => ({
  name: `${room}-imports-go-down`,
  severity: 'error',
  from: { path: `^services/${room}/` },
  to: { path: '^(?:services|test-e2e)/', pathNot: `^services/(?:${[room, ...below].join('|')})/` },
});

/** The rooms of the API server, from the bottom to the top. Each imports those before it. */
const API_SERVER = [
  'request',
  'options',
  'http',
  'cache',
  'registry',
  'metrics',
  'webhook-reviews',
  'authorization',
  'admission',
  'encryption',
  'pipeline',
  'tracing',
  'authentication',
  'audit',
  'table',
  'views',
  'verbs',
  'health',
  'openapi',
  'discovery',
  'endpoints',
  'extensions',
  'flowcontrol',
  'subresources',
  'aggregation',
  'debug',
  'server',
  'process',
];

/** Processes of controllers. None of them imports another. */
const CONTROLLER_SERVICES = [
  'certificate-signer',
  'token-cleaner',
  'role-aggregation',
  'service-accounts',
  'resource-lifecycle',
];

/** Tests and what is made for them may look at more. */
const FOR_TESTS = '(?:\\.test\\.ts$|/testing/)';

const rooms = (service, names) => {
  const path = `^services/${service}/`;
  const known = `${path}(?:${names.join('|')})/`;
  return [
    ...names.map((room, i) => ({
      name: `${service}-${room}-imports-go-down`,
      severity: 'error',
      from: { path: `${path}${room}/`, pathNot: FOR_TESTS },
      to: { path, pathNot: `${path}(?:${names.slice(0, i + 1).join('|')})/` },
    })),
    // A room that is not in the list has no place yet.
    { name: `${service}-rooms`, severity: 'error', from: { path: `${path}[^/]+/`, pathNot: known }, to: { path } },
  ];
};

export default {
  forbidden: [
    layer('machinery'),
    layer('storage', 'machinery'),
    layer('client', 'machinery'),
    layer('apiserver', 'machinery', 'storage', 'client'),
    layer('certificates', 'machinery', 'client'),
    layer('controllers', 'machinery', 'client'),
    layer('robustness', 'machinery', 'client'),
    ...CONTROLLER_SERVICES.map((service) => layer(service, 'machinery', 'client', 'controllers')),
    layer('controller-manager', 'machinery', 'client', 'controllers', ...CONTROLLER_SERVICES),
    layer('cli', 'machinery', 'storage', 'client'),
    ...rooms('apiserver', API_SERVER),
    {
      // Catches a plugin, an authenticator or an operation without its line in a table.
      name: 'forgotten',
      severity: 'error',
      from: { path: '/main\\.ts$' },
      to: { path: '^services/apiserver/.+/', pathNot: FOR_TESTS, reachable: false },
    },
    {
      // Of modules as they are loaded: imports of types alone make no cycle.
      name: 'no-cycle',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
  ],
  options: {
    includeOnly: '^(?:services|test-e2e)/',
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true, // reads the sources as they are, which sees imports of types and is four times as fast
    skipAnalysisNotInRules: true,
  },
};
