import { readData } from './data-files.js';
import type { ColumnDeclaration, TableDeclaration } from './declarations.js';

/** By `<group or core>/<resource>` of the stored resource, in the platform's words. */
type TableFile = Readonly<Record<string, TableDeclaration>>;

/** Gives the columns of a resource; undefined for those that are shown by name and age alone. */
export function tables(
  translate: (platformForm: string) => string,
): (group: string, resource: string) => TableDeclaration | undefined {
  const file = readData<TableFile>('table-columns.json');
  return (group, resource) => {
    const table = file[`${group === '' ? 'core' : group}/${resource}`];
    return table === undefined ? undefined : { ...table, columns: table.columns.map((c) => translated(c, translate)) };
  };
}

/** Paths and arguments may hold keys of labels and annotations; what people read has no words of the product. */
function translated(column: ColumnDeclaration, translate: (platformForm: string) => string): ColumnDeclaration {
  const { path, args } = column;
  return {
    ...column,
    ...(path === undefined ? {} : { path: typeof path === 'string' ? translate(path) : path.map(translate) }),
    ...(args === undefined ? {} : { args: args.map(translate) }),
  };
}
