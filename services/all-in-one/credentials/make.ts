import { pathOf, modeOf, type CredentialFile } from './files.js';
import {
  issueAuthority,
  issueLeaf,
  newKey,
  publicHalf,
  type Authority,
  type LeafRequest,
} from '../../machinery/pki/issue.js';
import type { Leaf, Plan, Texts } from './plan.js';
import { syncDirectory, writeFileAtomically } from '../../machinery/files/write-file.js';

export interface MakeRequest {
  readonly directory: string;
  readonly plan: Plan;
  readonly texts: Texts;
  readonly authorityName: string;
  readonly leaves: Readonly<Record<Leaf | 'frontProxy', Omit<LeafRequest, 'key'>>>;
}

const LEAF_FILES = {
  serving: { key: 'servingKey', cert: 'servingCert' },
  admin: { key: 'adminKey', cert: 'adminCert' },
  controllers: { key: 'controllersKey', cert: 'controllersCert' },
} as const satisfies Readonly<Record<Leaf, Readonly<Record<'key' | 'cert', CredentialFile>>>>;

/** Carries out a plan, each key before its certificate: the next start finds and mends what a crash left half done. */
export async function make(r: MakeRequest, now: Date): Promise<void> {
  const put = (file: CredentialFile, text: string): void =>
    writeFileAtomically(pathOf(r.directory, file), text, modeOf(file));
  const authority = await makeAuthority(r, now, put);
  await Promise.all(
    (Object.keys(r.plan.leaves) as Leaf[]).map(async (leaf) => {
      const key = await newKey();
      const cert = issueLeaf({ ...r.leaves[leaf], key }, authority, now);
      put(LEAF_FILES[leaf].key, key);
      put(LEAF_FILES[leaf].cert, cert);
    }),
  );
  if (r.plan.frontProxy !== undefined) await makeFrontProxy(r, now, put);
  if (r.plan.serviceAccount !== undefined) {
    const key = r.plan.serviceAccount === 'pair' ? await newKey() : (r.texts.serviceAccountKey ?? '');
    if (r.plan.serviceAccount === 'pair') put('serviceAccountKey', key);
    put('serviceAccountPublic', publicHalf(key));
  }
  syncDirectory(r.directory);
}

/** Who reads the authority from the server learns of a new one there: a key that is not kept cannot be stolen. */
async function makeFrontProxy(
  { leaves }: MakeRequest,
  now: Date,
  put: (file: CredentialFile, text: string) => void,
): Promise<void> {
  const [authorityKey, key] = await Promise.all([newKey(), newKey()]);
  const authority = issueAuthority({ key: authorityKey, commonName: 'front-proxy-ca', previous: undefined }, now);
  put('frontProxyKey', key);
  put('frontProxyCert', issueLeaf({ ...leaves.frontProxy, key }, { cert: authority, key: authorityKey }, now));
  put('frontProxyCa', authority);
}

async function makeAuthority(
  { plan, texts, authorityName }: MakeRequest,
  now: Date,
  put: (file: CredentialFile, text: string) => void,
): Promise<Authority> {
  const { caCert = '', caKey = '' } = texts;
  if (plan.authority === undefined) return { cert: caCert, key: caKey };
  const key = plan.authority.how === 'new' ? await newKey() : caKey;
  const cert = issueAuthority({ key, commonName: authorityName, previous: texts.caCert }, now);
  if (plan.authority.how === 'new') put('caKey', key);
  put('caCert', cert);
  return { cert, key };
}
