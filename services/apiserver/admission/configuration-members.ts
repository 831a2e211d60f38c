import { getOwn, isJsonObject } from '../../machinery/meta/own.js';
import type { DocumentPath, PluginDocument } from './configuration.js';

/** A member of a plugin's document, present or not. `null` is absent. */
export interface Member {
  readonly document: PluginDocument;
  readonly path: DocumentPath;
  readonly value: unknown;
}

/** @throws {Error} In one line with the file and the line of the member, when its value is of another type */
export type MemberReader<T> = (member: Member) => T;

type Shape = Readonly<Record<string, MemberReader<unknown>>>;
type Read<S extends Shape> = { readonly [K in keyof S]: S[K] extends MemberReader<infer T> ? T : never };

const isAbsent = ({ value }: Member): boolean => value === undefined || value === null;

/** @throws {Error} always */
export function refuse({ document, path }: Pick<Member, 'document' | 'path'>, why: string): never {
  throw document.error(path, why);
}

/** '' when absent. */
export const text: MemberReader<string> = (member) => {
  if (isAbsent(member)) return '';
  return typeof member.value === 'string' ? member.value : refuse(member, 'must be a string');
};

/** false when absent. */
export const flag: MemberReader<boolean> = (member) => {
  if (isAbsent(member)) return false;
  return typeof member.value === 'boolean' ? member.value : refuse(member, 'must be true or false');
};

/** Anything; undefined when absent. */
export const anything: MemberReader<unknown> = ({ value }) => value ?? undefined;

/** 0 when absent. @param least Smallest, @param most largest value that is taken. */
export const integer =
  (least: number, most: number): MemberReader<number> =>
  (member) => {
    if (isAbsent(member)) return 0;
    const { value } = member;
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
    return refuse(member, `must be an integer from ${least} to ${most}`);
  };

/** A value is needed. */
export const oneOf =
  <T extends string>(...choices: readonly T[]): MemberReader<T> =>
  (member) =>
    choices.find((choice) => choice === member.value) ??
    refuse(member, `must be ${choices.map((choice) => JSON.stringify(choice)).join(' or ')}`);

export const required =
  <T>(reader: MemberReader<T>): MemberReader<T> =>
  (member) =>
    isAbsent(member) || member.value === '' ? refuse(member, 'is required') : reader(member);

export const withDefault =
  <T>(reader: MemberReader<T>, value: T): MemberReader<T> =>
  (member) =>
    isAbsent(member) ? value : reader(member);

/** Empty when absent. */
export const list =
  <T>(reader: MemberReader<T>): MemberReader<readonly T[]> =>
  (member) => {
    if (isAbsent(member)) return [];
    const { value, path } = member;
    if (!Array.isArray(value)) return refuse(member, 'must be a list');
    return value.map((item: unknown, i) => reader({ ...member, path: [...path, i], value: item }));
  };

/** An object with names of its author's choice. Empty when absent. */
export const mapOf =
  <T>(reader: MemberReader<T>): MemberReader<ReadonlyMap<string, T>> =>
  (member) =>
    new Map(namesOf(member).map((name) => [name, reader(memberAt(member, name))]));

/** An object with these members; each is read, present or not. Others are refused. */
export const object =
  <S extends Shape>(shape: S): MemberReader<Read<S>> =>
  (member) => {
    const known = new Map(Object.entries(shape));
    const unknown = namesOf(member).find((name) => !known.has(name));
    if (unknown !== undefined) refuse(memberAt(member, unknown), 'is unknown');
    const read = [...known].map(([name, reader]) => [name, reader(memberAt(member, name))] as const);
    return Object.fromEntries(read) as Read<S>; // a member for each of the shape, by its own reader
  };

function namesOf(member: Member): readonly string[] {
  if (isAbsent(member)) return [];
  return isJsonObject(member.value) ? Object.keys(member.value) : refuse(member, 'must be an object');
}

const memberAt = (member: Member, name: string): Member => ({
  document: member.document,
  path: [...member.path, name],
  value: isJsonObject(member.value) ? getOwn(member.value, name) : undefined,
});

/** The whole of a document without a version. @throws {Error} In one line with file and line */
export const readMembers = <S extends Shape>(document: PluginDocument, shape: S): Read<S> =>
  object(shape)({ document, path: [], value: document.value });

/**
 * The whole of a document with `kind` and `apiVersion`.
 *
 * @param types Its kind, and the versions of it that are known. @throws {Error} In one line with file and line
 */
export function readVersioned<S extends Shape>(
  document: PluginDocument,
  { kind, apiVersions }: { readonly kind: string; readonly apiVersions: readonly string[] },
  shape: S,
): Read<S & { readonly apiVersion: MemberReader<string>; readonly kind: MemberReader<string> }> {
  const types = { apiVersion: required(oneOf(...apiVersions)), kind: required(oneOf(kind)) };
  const whole = { document, path: [], value: document.value };
  // The type comes first: of another one all members would be unknown.
  for (const [name, reader] of Object.entries(types)) reader(memberAt(whole, name));
  return readMembers(document, { ...shape, ...types });
}
