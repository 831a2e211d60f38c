import { isJsonObject } from '../../../../machinery/meta/own.js';
import { field, type FieldError } from '../../../../machinery/meta/status.js';
import type { PluginDocument } from '../../configuration.js';
import { LEVELS, type Level, type Standard } from './standards.js';

/** Members of a configuration and ends of label keys; a version has `-version` behind it. */
export const MODES = ['enforce', 'audit', 'warn'] as const;
export type Mode = (typeof MODES)[number];

/** Which standards hold in a namespace. */
export type Policy = Readonly<Record<Mode, Standard>>;

export interface Exemptions {
  readonly usernames: ReadonlySet<string>;
  readonly runtimeClasses: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
}

export interface PodSecurityConfiguration {
  readonly defaults: Policy;
  readonly exemptions: Exemptions;
}

const levelOf = (text: string): Level | undefined => LEVELS.find((level) => level === text);

/** The minor number of a release; Infinity for the latest. */
function minorOf(text: string): number | undefined {
  if (text === 'latest') return Infinity;
  const minor = /^v1\.(0|[1-9]\d*)$/.exec(text)?.[1];
  return minor === undefined ? undefined : Number(minor);
}

const WRONG_LEVEL = `must be one of ${LEVELS.join(', ')}`;
const WRONG_VERSION = 'must be "latest" or "v1.x"';

export interface ReadPolicy {
  readonly policy: Policy;
  readonly errors: readonly FieldError[];
}

/**
 * What labels say, and where they say nothing the defaults. A level that is none is the strictest where it would be enforced, and
 * nothing else; a version that is none is the latest.
 *
 * @param prefix Of the label keys, slash included.
 */
export function policyOf(labels: Readonly<Record<string, string>>, prefix: string, defaults: Policy): ReadPolicy {
  const errors: FieldError[] = [];
  const read = <T>(key: string, parse: (text: string) => T | undefined, unset: T, wrong: T, why: string): T => {
    const label = prefix + key;
    const text = Object.hasOwn(labels, label) ? labels[label] : undefined;
    if (text === undefined) return unset;
    const value = parse(text);
    if (value === undefined) errors.push(field.invalid(`metadata.labels[${label}]`, text, why));
    return value ?? wrong;
  };
  const modes = MODES.map((mode): [Mode, Standard] => {
    const strictest = mode === 'enforce' ? 'restricted' : 'privileged';
    const level = read(mode, levelOf, defaults[mode].level, strictest, WRONG_LEVEL);
    return [mode, { level, minor: read(`${mode}-version`, minorOf, defaults[mode].minor, Infinity, WRONG_VERSION) }];
  });
  return { policy: Object.fromEntries(modes) as unknown as Policy, errors };
}

export const isPrivileged = (policy: Policy): boolean => MODES.every((mode) => policy[mode].level === 'privileged');

const NOTHING: Standard = { level: 'privileged', minor: Infinity };
const UNCONFIGURED: PodSecurityConfiguration = {
  defaults: { enforce: NOTHING, audit: NOTHING, warn: NOTHING },
  exemptions: { usernames: new Set(), runtimeClasses: new Set(), namespaces: new Set() },
};

const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'];
const EXEMPTIONS = ['usernames', 'runtimeClasses', 'namespaces'] as const;

/**
 * The configuration `PodSecurityConfiguration`.
 *
 * @param group Its API group. @throws {Error} for a document of another shape
 */
export function configured(document: PluginDocument | undefined, group: string): PodSecurityConfiguration {
  if (document === undefined) return UNCONFIGURED;
  const { value } = document;
  if (!isJsonObject(value)) throw document.error([], 'must be an object');
  const { kind, apiVersion, defaults, exemptions, ...others } = value;
  if (kind !== 'PodSecurityConfiguration') throw document.error(['kind'], 'must be PodSecurityConfiguration');
  if (!VERSIONS.some((version) => apiVersion === `${group}/${version}`)) {
    throw document.error(
      ['apiVersion'],
      `must be one of ${VERSIONS.map((version) => `${group}/${version}`).join(', ')}`,
    );
  }
  refuseOthers(document, [], others, []);
  return { defaults: defaultsOf(document, defaults ?? {}), exemptions: exemptionsOf(document, exemptions ?? {}) };
}

function defaultsOf(document: PluginDocument, value: unknown): Policy {
  const members = membersOf(document, 'defaults', value);
  refuseOthers(
    document,
    ['defaults'],
    members,
    MODES.flatMap((mode) => [mode, `${mode}-version`]),
  );
  const labels = Object.entries(members).map(([key, text]) => [key, typeof text === 'string' ? text : ''] as const);
  for (const [key, text] of labels) {
    const [parse, why] = key.endsWith('-version') ? [minorOf, WRONG_VERSION] : [levelOf, WRONG_LEVEL];
    if (parse(text) === undefined) throw document.error(['defaults', key], why);
  }
  return policyOf(Object.fromEntries(labels), '', UNCONFIGURED.defaults).policy;
}

function exemptionsOf(document: PluginDocument, value: unknown): Exemptions {
  const members = membersOf(document, 'exemptions', value);
  refuseOthers(document, ['exemptions'], members, EXEMPTIONS);
  const listed = (member: (typeof EXEMPTIONS)[number]): ReadonlySet<string> => {
    const list = members[member] ?? [];
    if (Array.isArray(list) && list.every((one) => typeof one === 'string' && one !== '')) {
      if (new Set(list).size === list.length) return new Set(list as string[]);
    }
    throw document.error(['exemptions', member], 'must be a list of names, each once');
  };
  return { usernames: listed('usernames'), runtimeClasses: listed('runtimeClasses'), namespaces: listed('namespaces') };
}

function membersOf(document: PluginDocument, member: string, value: unknown): Record<string, unknown> {
  if (isJsonObject(value)) return value;
  throw document.error([member], 'must be an object');
}

function refuseOthers(
  document: PluginDocument,
  path: readonly string[],
  members: object,
  known: readonly string[],
): void {
  const unknown = Object.keys(members).find((member) => !known.includes(member));
  if (unknown !== undefined) throw document.error([...path, unknown], 'unknown field');
}
