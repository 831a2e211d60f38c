import { field, type FieldError } from '../../../../machinery/meta/status.js';
import {
  list,
  object,
  readVersioned,
  refuse,
  required,
  text,
  withDefault,
  type MemberReader,
} from '../../configuration-members.js';
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

const level: MemberReader<Level> = (member) => levelOf(text(member)) ?? refuse(member, WRONG_LEVEL);
const version: MemberReader<number> = (member) => minorOf(text(member)) ?? refuse(member, WRONG_VERSION);
const names: MemberReader<ReadonlySet<string>> = (member) => {
  const all = list(required(text))(member);
  const set = new Set(all);
  return set.size === all.length ? set : refuse(member, 'must name each once');
};

const levelMember = withDefault(level, 'privileged');
const versionMember = withDefault(version, Infinity);

const SHAPE = {
  defaults: object({
    enforce: levelMember,
    'enforce-version': versionMember,
    audit: levelMember,
    'audit-version': versionMember,
    warn: levelMember,
    'warn-version': versionMember,
  }),
  exemptions: object({ usernames: names, runtimeClasses: names, namespaces: names }),
};

/**
 * The configuration `PodSecurityConfiguration`.
 *
 * @param group Its API group. @throws {Error} In one line, for a document of another shape
 */
export function configured(document: PluginDocument | undefined, group: string): PodSecurityConfiguration {
  if (document === undefined) return UNCONFIGURED;
  const apiVersions = ['v1', 'v1beta1', 'v1alpha1'].map((one) => `${group}/${one}`);
  const { defaults, exemptions } = readVersioned(document, { kind: 'PodSecurityConfiguration', apiVersions }, SHAPE);
  const standard = (mode: Mode): Standard => ({ level: defaults[mode], minor: defaults[`${mode}-version`] });
  return {
    defaults: { enforce: standard('enforce'), audit: standard('audit'), warn: standard('warn') },
    exemptions,
  };
}
