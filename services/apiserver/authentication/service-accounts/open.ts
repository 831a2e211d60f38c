import type { Reader } from '../../registry/reader.js';
import type { ResourceTable } from '../../registry/resources.js';
import type { Vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import type { ApiServerOptions } from '../../options/flags.js';
import { ServiceAccountTokens } from './service-account-tokens.js';
import { issuerDocuments, type IssuerDocuments } from './issuer-documents.js';
import { verifyingKeys } from './key-files.js';

/** Where objects are that are credentials, or that credentials name. */
export interface StoredObjects {
  readonly vocabulary: Vocabulary;
  readonly resources: ResourceTable;
  readonly reader: Reader;
}

export interface ServiceAccounts {
  /** Empty without a key to verify tokens with. */
  readonly tokens: readonly ServiceAccountTokens[];
  /** undefined: there is no issuer that others could ask about its keys. */
  readonly documents: IssuerDocuments | undefined;
}

/** @throws {Error} In one line, for key files that cannot be used. */
export function openServiceAccounts(o: ApiServerOptions, core: StoredObjects): ServiceAccounts {
  const keys = verifyingKeys(o);
  if (keys.length === 0) return { tokens: [], documents: undefined };
  return {
    tokens: [
      new ServiceAccountTokens({ ...core, keys, issuers: o.serviceAccountIssuer, lookup: o.serviceAccountLookup }),
    ],
    documents: issuerDocuments({ issuer: o.serviceAccountIssuer[0], jwksUri: o.serviceAccountJwksUri, keys }),
  };
}
