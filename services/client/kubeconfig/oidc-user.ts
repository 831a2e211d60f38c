import type { OidcOptions } from '../credentials/oidc/oidc-credentials.js';
import type { AuthProviderEntry, ClientConfig } from './config.js';
import { resolve } from 'node:path';
import { machineAuthorities } from './machine-authorities.js';
import type { Member } from './member.js';
import { providerStore } from './provider-store.js';
import { checkCertificates, placeOf, textOf } from './source.js';

/** The only auth provider that is known. */
const OIDC = 'oidc';

export interface OidcScene {
  readonly config: ClientConfig;
  readonly userName: string;
  readonly provider: AuthProviderEntry;
}

/** The OpenID provider of a user (spec 2, 5.6). @throws {ClientConfigError} */
export function oidcProvider({ config, userName, provider }: OidcScene): Omit<OidcOptions, 'warn'> {
  const { member, config: settings } = provider;
  if (provider.name !== OIDC) member.at('name').fail(`must be ${OIDC}: no other auth provider is known`);
  const setting = (name: string): string => settings.get(name) ?? '';
  return {
    client: {
      issuer: issuerOf(member.at('config').at('idp-issuer-url')),
      clientId: member.at('config').at('client-id').required(),
      clientSecret: setting('client-secret'),
    },
    trust: { authorities: authoritiesOf(config, provider), serverName: undefined, insecure: false },
    tokens: { idToken: setting('id-token'), refreshToken: setting('refresh-token') },
    store: providerStore(config.file, userName, settings),
  };
}

function issuerOf(member: Member): string {
  const text = member.required();
  const url = URL.canParse(text) ? new URL(text) : member.fail('must be a URL');
  if (url.protocol !== 'https:') member.fail('must be an https URL');
  // What is in the URL ends up in logs; a query or a fragment is not part of an issuer.
  if (url.username !== '' || url.password !== '') member.fail('must not hold a user name or a password');
  if (url.search !== '' || url.hash !== '') member.fail('must not hold a query or a fragment');
  return text;
}

function authoritiesOf(config: ClientConfig, { member, config: settings }: AuthProviderEntry): string | undefined {
  const file = settings.get('idp-certificate-authority') ?? '';
  const source = {
    data: settings.get('idp-certificate-authority-data') ?? '',
    file: file === '' ? '' : resolve(config.directory, file),
    dataMember: member.at('config').at('idp-certificate-authority-data'),
  };
  const own = textOf(source);
  if (own === undefined) return machineAuthorities();
  checkCertificates(own, placeOf(source, config));
  return own;
}
