import { compactVerify } from 'jose';
import type { Live } from '../../../services/client/rest/resource-type.js';
import type { Secret } from '../../../services/machinery/types/generated/core.v1.js';
import { scenarios, types, words, type Look, type ScenarioContext } from './scenario.js';

const { system, public: shared } = words.namespaces;
const SECRET = '0123456789abcdef';
const CLUSTER_INFO = 'cluster-info';

type Entries = Readonly<Record<string, string>>;

const inMs = (ms: number): Entries => ({ expiration: new Date(Date.now() + ms).toISOString().replace(/\.\d+/, '') });

/** A token of its own, and what there is to be signed. */
async function create(
  c: ScenarioContext,
  entries: Entries = {},
  id = c.suffix.slice(1, 7),
): Promise<{ readonly id: string; readonly secret: Live<Secret> }> {
  const kubeconfig = 'apiVersion: v1\nkind: Config\n';
  await c.ensure(types.configMaps, { metadata: { name: CLUSTER_INFO, namespace: shared }, data: { kubeconfig } });
  const secret = await c.create(types.secrets, {
    metadata: { name: `bootstrap-token-${id}`, namespace: system },
    type: words.secretTypes.bootstrapToken,
    stringData: { 'token-id': id, 'token-secret': SECRET, 'usage-bootstrap-signing': 'true', ...entries },
  });
  return { id, secret };
}

/** The algorithm of the signature and the key that it is verified with; `none` when there is none. */
async function signature(c: ScenarioContext, id: string): Promise<string> {
  const { data = {} } = (await c.find(types.configMaps, CLUSTER_INFO, shared)) ?? {};
  const { kubeconfig = '', [`jws-kubeconfig-${id}`]: jws } = data;
  if (jws === undefined) return 'none';
  const whole = jws.replace('..', `.${Buffer.from(kubeconfig).toString('base64url')}.`);
  for (const [name, key] of [
    ['token', `${id}.${SECRET}`],
    ['secret', SECRET],
  ] as const) {
    // prettier-ignore
    try {
      const { protectedHeader } = await compactVerify(whole, Buffer.from(key));
      return `${protectedHeader.alg}, by the ${name} that the header names: ${String(protectedHeader.kid === id)}`;
    } catch {
      // by another key, or of another text that is about to be signed
    }
  }
  return 'wrong';
}

const looksAt =
  (c: ScenarioContext, id: string): Look =>
  async () => ({
    secret: (await c.find(types.secrets, `bootstrap-token-${id}`, system)) === undefined ? 'gone' : 'there',
    signature: await signature(c, id),
  });

const isSigned = (c: ScenarioContext, id: string): Promise<true> =>
  c.until(async () => ((await signature(c, id)) === 'none' ? undefined : true));

const SIGNED = 'HS256, by the token that the header names: true';

export const BOOTSTRAP_TOKENS = scenarios('bootstrap tokens', [
  {
    name: 'one signs what its holders are to trust',
    expected: { secret: 'there', signature: SIGNED },
    run: async (c) => looksAt(c, (await create(c, inMs(3_600_000))).id),
  },
  {
    name: 'one that is deleted takes its signature along',
    expected: { secret: 'gone', signature: 'none' },
    run: async (c) => {
      const { id, secret } = await create(c);
      await isSigned(c, id);
      await c.delete(types.secrets, secret);
      return looksAt(c, id);
    },
  },
  {
    name: 'one that is no longer meant for it signs no more',
    expected: { secret: 'there', signature: 'none' },
    run: async (c) => {
      const { id, secret } = await create(c);
      await isSigned(c, id);
      await c.patch(types.secrets, secret, { stringData: { 'usage-bootstrap-signing': 'false' } });
      return looksAt(c, id);
    },
  },
  {
    name: 'one is deleted when it expires, with its signature',
    expected: { secret: 'gone', signature: 'none' },
    run: async (c) => {
      const { id } = await create(c, inMs(3_000));
      return looksAt(c, id);
    },
  },
  {
    name: 'one is deleted when nobody can tell when it expires',
    expected: { secret: 'gone', signature: 'none' },
    run: async (c) => looksAt(c, (await create(c, { expiration: 'tomorrow' })).id),
  },
  {
    name: 'one whose id is not that of its name does not sign',
    expected: { secret: 'there', signature: 'none', control: SIGNED },
    run: async (c) => {
      const { id } = await create(c, { 'token-id': 'zzzzzz' });
      const control = `${id.slice(1)}x`;
      await create(c, {}, control);
      const look = looksAt(c, id);
      return async () => ({ ...((await look()) as object), control: await signature(c, control) });
    },
  },
]);
