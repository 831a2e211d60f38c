/**
 * Whether labels fit a selector of those that the clients of a run use: `a=b`, `a!=b`, `a in (b,c)`, `a`, `!a`; '' fits all.
 * It is written for this alone, so that a fault of the servers' selectors is not judged by itself.
 */
export function matches(selector: string, labels: Readonly<Record<string, string>>): boolean {
  if (selector === '') return true;
  const [, key = '', set = ''] = /^(\w+) in \((.*)\)$/.exec(selector) ?? [];
  if (key !== '') return Object.hasOwn(labels, key) && set.split(',').includes(labels[key] ?? '');
  const [, name = '', not = '', value = ''] = /^(\w+)(!?)=(.*)$/.exec(selector) ?? [];
  if (name !== '') return (Object.hasOwn(labels, name) && labels[name] === value) !== (not === '!');
  return selector.startsWith('!') ? !Object.hasOwn(labels, selector.slice(1)) : Object.hasOwn(labels, selector);
}
