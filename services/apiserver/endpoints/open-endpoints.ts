import { FlagError } from '../../machinery/flags/flags.js';
import { LIVING_SERVERS } from '../../storage/layout.js';
import type { KeyValueStore } from '../../storage/store.js';
import type { Feed } from '../cache/feed.js';
import type { Log } from '../../machinery/log/log.js';
import { API_SERVER_FLAGS, type ApiServerOptions } from '../options/flags.js';
import { parseIp } from '../registry/addresses/ip.js';
import type { RegistryKeys } from '../registry/keys.js';
import { advertisedAddress } from './advertise.js';
import { Members } from './members.js';
import { PlatformEndpoints } from './platform-endpoints.js';
import { Publisher, type PublishDeps } from './publish.js';

export interface EndpointsDeps extends PublishDeps {
  readonly store: KeyValueStore;
  readonly keys: RegistryKeys;
  readonly feed: Feed;
  readonly log: Log;
}

/** @throws {FlagError} */
export function checkAdvertised({ advertiseAddress }: Pick<ApiServerOptions, 'advertiseAddress'>): void {
  if (advertiseAddress === '' || parseIp(advertiseAddress) !== undefined) return;
  const { flag } = API_SERVER_FLAGS.advertiseAddress;
  throw new FlagError(`Cannot parse --${flag}: ${JSON.stringify(advertiseAddress)} is no address`);
}

/** @param port Where this server listens. */
export function platformEndpoints(o: ApiServerOptions, d: EndpointsDeps, port: number): PlatformEndpoints {
  const membersPrefix = `${d.keys.prefix}${LIVING_SERVERS}`;
  const endpoints = new PlatformEndpoints({
    self: { address: advertisedAddress(o), port },
    members: new Members(d.store, membersPrefix),
    publisher: new Publisher(d),
    membersPrefix,
    log: d.log,
  });
  endpoints.follow(d.feed);
  return endpoints;
}
