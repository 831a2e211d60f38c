import { readData } from './data-files.js';
import type { SelectableField } from './declarations.js';

interface KeyEntry {
  /** Dotted paths in the storage version; members of lists by their number. */
  readonly paths: readonly string[];
  readonly absent?: string;
}
interface Keys {
  readonly [key: string]: KeyEntry;
}
interface SelectableFile {
  readonly default: Keys;
  readonly resources: readonly {
    /** `<group or core>/<resource>` */
    readonly resource: string;
    /** The versions that have the keys; absent: all. */
    readonly versions?: readonly string[];
    /** Default keys that this resource refuses. */
    readonly without?: readonly string[];
    readonly keys: Keys;
  }[];
}

const parsed = ([key, entry]: [string, KeyEntry]): SelectableField => ({
  key,
  paths: entry.paths.map((path) => path.split('.')),
  absent: entry.absent ?? '',
});

/** Gives the field-selector keys of a resource in one version; group in the platform form, '' for core. */
export function selectableFields(): (group: string, version: string, resource: string) => readonly SelectableField[] {
  const file = readData<SelectableFile>('selectable-fields.json');
  const defaults = Object.entries(file.default).map(parsed);
  const entries = new Map(file.resources.map((entry) => [entry.resource, entry]));
  return (group, version, resource) => {
    const own = entries.get(`${group === '' ? 'core' : group}/${resource}`);
    if (own === undefined) return defaults;
    const shared = defaults.filter(({ key }) => own.without?.includes(key) !== true);
    return own.versions?.includes(version) === false ? shared : [...shared, ...Object.entries(own.keys).map(parsed)];
  };
}
