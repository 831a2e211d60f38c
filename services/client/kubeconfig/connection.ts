import { fixed, basicHeader, combined } from '../credentials/fixed.js';
import { certificateFileCredentials } from '../credentials/certificate-files.js';
import { ExecCredentials } from '../credentials/exec/exec-credentials.js';
import { OidcCredentials } from '../credentials/oidc/oidc-credentials.js';
import { tokenFileCredentials } from '../credentials/token-file.js';
import type { Credentials } from '../credentials/credential.js';
import { bearerHeader } from '../credentials/credential.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import type { ClientConfig, ClusterEntry, Source, UserEntry } from './config.js';
import { execPlugin } from './exec-user.js';
import type { ImpersonationHeaders } from './impersonation.js';
import { impersonationHeaders } from './impersonation.js';
import { oidcProvider } from './oidc-user.js';
import { machineAuthorities } from './machine-authorities.js';
import { checkCertificates, checkKeyPair, placeOf, textOf } from './source.js';

/** How to reach a server, and as whom. */
export interface Connection {
  /** http or https, without user name and password. */
  readonly server: URL;
  readonly tls: ServerTrust;
  /** Closed by the opener of the connection. */
  readonly credentials: Credentials;
  readonly impersonation: ImpersonationHeaders;
  /** Empty when the context names none. */
  readonly namespace: string;
}

export interface ServerTrust {
  /**
   * Certificates of the authorities that the server's certificate is checked against, PEM; undefined: the runtime's.
   */
  readonly authorities: string | undefined;
  /** The name that the server's certificate is for, where it is not the one in the URL. */
  readonly serverName: string | undefined;
  /** Whether the server's certificate is not looked at. */
  readonly insecure: boolean;
}

export interface ConnectionOptions {
  readonly vocabulary: Vocabulary;
  /** Whether a credential plugin may talk to a person: standard input is a terminal and free. */
  readonly interactive: boolean;
  readonly warn: (message: string, keys: object) => void;
}

/**
 * The connection of a context. Files that it names are read now.
 *
 * @param context Absent: the file's current one. @throws {ClientConfigError} @throws {CredentialError}
 */
export function connectionOf(config: ClientConfig, o: ConnectionOptions, context?: string): Connection {
  const name = context ?? config.currentContext;
  if (name === '') config.root.at('current-context').fail('is required');
  const entry = config.contexts.get(name);
  if (entry === undefined) return config.root.at('contexts').fail(`has none of the name ${JSON.stringify(name)}`);
  const cluster = config.clusters.get(entry.cluster);
  if (cluster === undefined) return entry.member.at('cluster').fail('names no cluster of this file');
  const user = entry.user === '' ? undefined : config.users.get(entry.user);
  if (user === undefined && entry.user !== '') return entry.member.at('user').fail('names no user of this file');
  const server = serverOf(cluster);
  const credentials =
    user === undefined ? fixed({ headers: {} }) : credentialsOf({ config, cluster, userName: entry.user, user, o });
  if (server.protocol === 'http:' && user !== undefined && authorizationsOf(user).length > 0)
    cluster.member.at('server').fail('must be https, for the user has credentials');
  return {
    server,
    tls: trustOf(config, cluster),
    credentials,
    impersonation: user === undefined ? {} : impersonationHeaders(user),
    namespace: entry.namespace,
  };
}

/**
 * The credentials of a user of a file for servers that the file does not name. Files that it names are read now.
 *
 * @throws {ClientConfigError} @throws {CredentialError}
 */
export function userCredentials(config: ClientConfig, user: UserEntry, o: ConnectionOptions): Credentials {
  if (user.exec !== undefined) user.member.at('exec').fail('is not supported here');
  if (user.authProvider !== undefined) user.member.at('auth-provider').fail('is not supported here');
  return credentialsOf({ config, user, o });
}

function serverOf(cluster: ClusterEntry): URL {
  const member = cluster.member.at('server');
  const text = member.required();
  const url = URL.canParse(text) ? new URL(text) : member.fail('must be a URL');
  if (!['https:', 'http:'].includes(url.protocol)) member.fail('must be an https URL');
  // What is in the URL ends up in logs.
  if (url.username !== '' || url.password !== '') member.fail('must not hold a user name or a password');
  if (cluster.proxyUrl !== '') cluster.member.at('proxy-url').fail('is not supported');
  return url;
}

function trustOf(config: ClientConfig, cluster: ClusterEntry): ServerTrust {
  const { authority, insecure, serverName } = cluster;
  const own = textOf(authority);
  if (own !== undefined) checkCertificates(own, placeOf(authority, config));
  if (insecure && own !== undefined) {
    cluster.member.at('insecure-skip-tls-verify').fail('cannot be true where authorities are given');
  }
  return {
    authorities: own ?? (insecure ? undefined : machineAuthorities()),
    serverName: serverName === '' ? undefined : serverName,
    insecure,
  };
}

/** Dependencies of the kinds of credentials. */
interface Scene {
  readonly config: ClientConfig;
  /** The server; undefined where the file does not name it. */
  readonly cluster?: ClusterEntry;
  /** Of the entry in the file. */
  readonly userName?: string;
  readonly user: UserEntry;
  readonly o: ConnectionOptions;
}

/** Ways to say who one is beside a certificate. No user has more than one of them. */
const AUTHORIZATIONS: readonly {
  readonly member: string;
  readonly isSet: (user: UserEntry) => boolean;
  readonly open: (scene: Scene) => Credentials;
}[] = [
  { member: 'token', isSet: (u) => u.token !== '' || u.tokenFile !== '', open: openToken },
  { member: 'username', isSet: (u) => u.username !== '' || u.password !== '', open: openBasic },
  { member: 'exec', isSet: (u) => u.exec !== undefined, open: openExec },
  { member: 'auth-provider', isSet: (u) => u.authProvider !== undefined, open: openProvider },
];

const authorizationsOf = (user: UserEntry): typeof AUTHORIZATIONS => AUTHORIZATIONS.filter(({ isSet }) => isSet(user));

function credentialsOf(scene: Scene): Credentials {
  const { user } = scene;
  const [one, another] = authorizationsOf(user);
  if (another !== undefined) user.member.fail(`has both ${one?.member ?? ''} and ${another.member}`);
  const certificate = openCertificate(scene);
  if (one === undefined) return certificate ?? fixed({ headers: {} });
  const other = one.open(scene);
  return certificate === undefined ? other : combined(certificate, other);
}

function openToken({ user, o }: Scene): Credentials {
  if (user.tokenFile !== '') return tokenFileCredentials(user.tokenFile, o); // newer than a token beside it
  return fixed({ headers: bearerHeader(user.token) ?? user.member.at('token').fail('is no usable token') });
}

function openBasic({ user }: Scene): Credentials {
  const { username, password } = user;
  if (username === '') user.member.at('username').fail('is required where password is set');
  if (username.includes(':')) user.member.at('username').fail('must not hold a colon');
  return fixed({ headers: basicHeader(username, password) });
}

function openExec({ config, cluster, user, o }: Scene): Credentials {
  const { exec } = user;
  if (exec === undefined || cluster === undefined) return user.member.at('exec').fail('is required');
  return new ExecCredentials(execPlugin({ config, cluster, exec, ...o }));
}

function openProvider({ config, userName = '', user, o }: Scene): Credentials {
  const { authProvider: provider } = user;
  if (provider === undefined) return user.member.at('auth-provider').fail('is required');
  return new OidcCredentials({ ...oidcProvider({ config, userName, provider }), warn: o.warn });
}

const isGiven = ({ data, file }: Source): boolean => data !== '' || file !== '';

function openCertificate({ config, user, o }: Scene): Credentials | undefined {
  const { certificate, key } = user;
  if (!isGiven(certificate) && !isGiven(key)) return undefined;
  if (!isGiven(key)) user.member.at('client-key').fail('is required beside client-certificate');
  if (!isGiven(certificate)) user.member.at('client-certificate').fail('is required beside client-key');
  if (certificate.data === '' && key.data === '') {
    return certificateFileCredentials({ certFile: certificate.file, keyFile: key.file }, o);
  }
  const [cert, privateKey] = [textOf(certificate) ?? '', textOf(key) ?? ''];
  checkKeyPair(cert, privateKey, placeOf(certificate, config));
  return fixed({ headers: {}, cert, key: privateKey });
}

/** The certificate, in PEM, of the user of the current context; undefined where he has none, or it cannot be read. */
export function clientCertificate({ contexts, users, currentContext }: ClientConfig): string | undefined {
  const user = users.get(contexts.get(currentContext)?.user ?? '');
  return user === undefined ? undefined : textOf(user.certificate);
}
