import { dns1123Subdomain } from '../../../../machinery/meta/names.js';
import type { HostAlias, PodDNSConfig } from '../../../../machinery/types/generated/core.v1.js';
import type { At } from '../checks/at.js';
import { shownList } from '../checks/at.js';
import { checkRule, each, isUnset } from '../checks/members.js';
import { ipVersion } from '../checks/text.js';

const MAX_SERVERS = 3;
const MAX_SEARCHES = 6;
const MAX_SEARCH_CHARACTERS = 256;
const NOT_AN_ADDRESS = 'must be valid IP address';

const checkAddress = (at: At, member: string, address = ''): void => {
  if (ipVersion(address) === 0) at.invalid(member, address, NOT_AN_ADDRESS);
};

/** A pod that wants nobody's name resolution brings its own. */
function checkOwnDns(at: At, config: PodDNSConfig | undefined): boolean {
  if (config === undefined) {
    at.required('dnsConfig', 'must provide `dnsConfig` when `dnsPolicy` is None');
  } else if ((config.nameservers ?? []).length === 0) {
    at.required('dnsConfig.nameservers', 'must provide at least one DNS nameserver when `dnsPolicy` is None');
  } else {
    return true;
  }
  return false;
}

/** @param at The place of the pod's spec. */
export function checkDns(at: At, policy: string | undefined, config: PodDNSConfig | undefined): void {
  if (policy === 'None' && !checkOwnDns(at, config)) return;
  if (config === undefined) return;
  const { nameservers = [], searches = [], options } = config;
  const configAt = at.child('dnsConfig');
  if (nameservers.length > MAX_SERVERS) {
    configAt.invalidShown('nameservers', shownList(nameservers), `must not have more than ${MAX_SERVERS} nameservers`);
  }
  each(configAt, 'nameservers', nameservers, (server, serverAt) => checkAddress(serverAt, '', server));
  if (searches.length > MAX_SEARCHES) {
    configAt.invalidShown('searches', shownList(searches), `must not have more than ${MAX_SEARCHES} search paths`);
  }
  if (searches.join(' ').length > MAX_SEARCH_CHARACTERS) {
    const why = `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`;
    configAt.invalidShown('searches', shownList(searches), why);
  }
  each(configAt, 'searches', searches, (search, searchAt) =>
    checkRule(searchAt, '', search.endsWith('.') ? search.slice(0, -1) : search, dns1123Subdomain),
  );
  each(configAt, 'options', options, ({ name }, optionAt) => {
    if (isUnset(name)) optionAt.required('', 'must not be empty');
  });
}

/** Problems of all aliases are reported at the list: so they always were. */
export function checkHostAliases(at: At, aliases: readonly HostAlias[] | undefined): void {
  const listAt = at.child('hostAliases');
  for (const { ip, hostnames = [] } of aliases ?? []) {
    checkAddress(listAt, 'ip', ip);
    for (const hostname of hostnames) checkRule(listAt, 'hostnames', hostname, dns1123Subdomain);
  }
}
