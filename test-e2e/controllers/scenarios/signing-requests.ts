import { OpenSsl } from '../../../services/machinery/pki/testing/openssl.js';
import { askWith, CLIENT_USAGES, SERVER_USAGES } from '../../support/certificates.js';
import { certificateFacts } from './certificate-facts.js';
import {
  scenarios,
  conditionsOf,
  types,
  words,
  type Look,
  type Scenario,
  type ScenarioContext,
  type User,
} from './scenario.js';

const { signers, groups } = words;
const NODE = '/O=system:nodes/CN=system:node:a';
const BY_TEST = 'True | ByScenario | it is part of the scenario';

interface Asks {
  readonly subject: string;
  /** e.g. `DNS:a,IP:10.0.0.1` */
  readonly names?: string;
  readonly key?: readonly string[];
  readonly signerName: string;
  readonly usages?: readonly string[];
  readonly expirationSeconds?: number;
  /** undefined: the administrator asks. */
  readonly as?: User;
}

async function ask(c: ScenarioContext, { subject, names, key, as, ...spec }: Asks, name = 'scenario'): Promise<string> {
  const openssl = new OpenSsl();
  const { request } = askWith(openssl, subject, names, key);
  openssl.remove();
  const whole = { usages: CLIENT_USAGES, ...spec, request: Buffer.from(request).toString('base64') };
  const metadata = { name: c.named(name) };
  await c.create(types.certificateSigningRequests, { metadata, spec: whole }, as);
  return metadata.name;
}

async function decide(c: ScenarioContext, name: string, type: 'Approved' | 'Denied'): Promise<void> {
  const object = await c.comes(types.certificateSigningRequests, name);
  const conditions = [{ type, status: 'True', reason: 'ByScenario', message: 'it is part of the scenario' }];
  const decided = { ...object, status: { ...object.status, conditions } };
  await c.client.resource(types.certificateSigningRequests).update(decided, { subresource: 'approval' }, c.signal);
}

const looksAt =
  (c: ScenarioContext, name: string): Look =>
  async () => {
    const { status = {}, metadata } = await c.comes(types.certificateSigningRequests, name);
    const pem = Buffer.from(status.certificate ?? '', 'base64').toString();
    return {
      conditions: conditionsOf(status.conditions),
      certificate: pem === '' ? 'none' : certificateFacts(pem, Date.parse(metadata.creationTimestamp ?? '')),
    };
  };

interface Signing {
  readonly name: string;
  readonly asks: Asks;
  readonly decision?: 'Approved' | 'Denied';
  readonly conditions: Readonly<Record<string, string>>;
  readonly certificate: unknown;
}

const signing = ({ name, asks, decision, conditions, certificate }: Signing): Scenario => ({
  name,
  expected: { conditions, certificate },
  run: async (c) => {
    const request = await ask(c, asks);
    if (decision !== undefined) await decide(c, request, decision);
    return looksAt(c, request);
  },
});

const YEAR_MINUTES = 365 * 24 * 60;

interface Facts {
  readonly subject: readonly string[];
  readonly use: string;
  readonly minutes?: number;
  readonly more?: readonly string[];
}

const certificate = ({ subject, use, minutes = YEAR_MINUTES, more = [] }: Facts): object => ({
  version: '3',
  subject,
  ca: false,
  extensions: [
    'Authority Key Identifier: <key>',
    'Basic Constraints: critical CA:FALSE',
    `Extended Key Usage: ${use}`,
    'Key Usage: critical Digital Signature, Key Encipherment',
    ...more,
  ],
  minutes,
  isBackdated: true,
});

const CLIENT = 'TLS Web Client Authentication';
const SERVER = 'TLS Web Server Authentication';

const SIGNED: readonly Signing[] = [
  {
    name: 'one of a user is signed when it is approved',
    asks: { subject: '/O=devs/CN=jane', signerName: signers.apiServerClient },
    decision: 'Approved',
    conditions: { Approved: BY_TEST },
    certificate: certificate({ subject: ['O=devs', 'CN=jane'], use: CLIENT }),
  },
  {
    name: 'one is signed for as long as it asks, and for a key of RSA',
    asks: { subject: '/CN=jane', signerName: signers.apiServerClient, expirationSeconds: 36_000, key: ['rsa:2048'] },
    decision: 'Approved',
    conditions: { Approved: BY_TEST },
    certificate: certificate({ subject: ['CN=jane'], use: CLIENT, minutes: 600 }),
  },
  {
    name: 'one that asks for a short time gets it in full',
    asks: { subject: '/CN=jane', signerName: signers.apiServerClient, expirationSeconds: 3_600 },
    decision: 'Approved',
    conditions: { Approved: BY_TEST },
    certificate: certificate({ subject: ['CN=jane'], use: CLIENT, minutes: 65 }),
  },
  {
    name: 'one of a node as a server is signed with its names',
    asks: { subject: NODE, names: 'DNS:a.example,IP:10.0.0.1', signerName: signers.nodeAgentServing, usages: SERVER_USAGES }, // prettier-ignore
    decision: 'Approved',
    conditions: { Approved: BY_TEST },
    certificate: certificate({
      subject: ['O=system:nodes', 'CN=system:node:a'],
      use: SERVER,
      more: ['Subject Alternative Name: DNS:a.example, IP Address:10.0.0.1'],
    }),
  },
  {
    name: 'one for a user that asks for the use of a server fails',
    asks: { subject: '/CN=jane', signerName: signers.apiServerClient, usages: SERVER_USAGES },
    decision: 'Approved',
    conditions: { Approved: BY_TEST, Failed: 'True | SignerValidationFailure | usages must include "client auth"' },
    certificate: 'none',
  },
  {
    name: 'one that is denied is not signed',
    asks: { subject: '/CN=jane', signerName: signers.apiServerClient },
    decision: 'Denied',
    conditions: { Denied: BY_TEST },
    certificate: 'none',
  },
  {
    name: 'one for a signer of others is left to it',
    asks: { subject: '/CN=jane', signerName: 'example.com/signer' },
    decision: 'Approved',
    conditions: { Approved: BY_TEST },
    certificate: 'none',
  },
];

/** Lets a group have its requests for nodes approved. */
async function bind(c: ScenarioContext, group: string, use: 'nodeclient' | 'selfnodeclient'): Promise<void> {
  const name = `system:${groups.certificates}:certificatesigningrequests:${use}`;
  const roleRef = { apiGroup: groups.rbac, kind: 'ClusterRole', name };
  const subjects = [{ apiGroup: groups.rbac, kind: 'Group', name: group }];
  await c.create(types.clusterRoleBindings, { metadata: { name: c.named(`scenario-${use}`) }, roleRef, subjects });
  await c.create(types.clusterRoleBindings, {
    metadata: { name: c.named(`scenario-${use}-asks`) },
    roleRef: { ...roleRef, name: 'system:node-bootstrapper' },
    subjects,
  });
}

/** A request for a node, whose user may ask for it from the moment on that the server knows of the roles. */
async function askForNode(c: ScenarioContext, as: User, name?: string): Promise<string> {
  return c.until(async () => {
    try {
      return await ask(c, { subject: NODE, signerName: signers.apiServerClientNodeAgent, as }, name);
    } catch (err) {
      if ((err as { code?: number }).code === 403) return undefined;
      throw err;
    }
  });
}

const nodeRequest = (name: string, user: string, use: 'nodeclient' | 'selfnodeclient'): Scenario => ({
  name,
  expected: {
    conditions: { Approved: 'True | AutoApproved' },
    certificate: certificate({ subject: ['O=system:nodes', 'CN=system:node:a'], use: CLIENT }),
  },
  run: async (c) => {
    const group = `${use}${c.suffix}`;
    await bind(c, group, use);
    const request = await askForNode(c, { name: user, groups: [group, 'system:authenticated'] });
    const look = looksAt(c, request);
    return async () => JSON.parse(JSON.stringify(await look()).replace(/(AutoApproved)[^"]*/, '$1')) as unknown; // the rest is for people
  },
});

export const SIGNING_REQUESTS = scenarios('signing requests', [
  ...SIGNED.map(signing),
  nodeRequest('one of a node that is new is approved and signed', 'system:bootstrap:abcdef', 'nodeclient'),
  nodeRequest('one by which a node renews its own is approved and signed', 'system:node:a', 'selfnodeclient'),
  {
    name: 'one by which a node asks for another one is left to people',
    expected: { conditions: {}, certificate: 'none' },
    run: async (c) => {
      const group = `selfnodeclient${c.suffix}`;
      await bind(c, group, 'selfnodeclient');
      const groups = [group, 'system:authenticated'];
      const request = await askForNode(c, { name: 'system:node:b', groups });
      const own = await askForNode(c, { name: 'system:node:a', groups }, 'own'); // is approved after it was looked at
      await c.comes(types.certificateSigningRequests, own, '', ({ status }) => status?.certificate !== undefined);
      return looksAt(c, request);
    },
  },
]);
