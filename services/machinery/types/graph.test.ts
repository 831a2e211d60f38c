import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FieldDeclaration, TypeDeclaration } from './declarations.js';
import { facet, typeGraph, type Type, type TypeGraph } from './graph.js';

const fields = (...declared: (FieldDeclaration | string)[]): TypeDeclaration => ({
  fields: declared.map((field) => (typeof field === 'string' ? { name: field, type: 'string' } : field)),
});
const map = (declared: Readonly<Record<string, TypeDeclaration>>): ReadonlyMap<string, TypeDeclaration> =>
  new Map(Object.entries(declared));
const graphOf = (declared: Readonly<Record<string, TypeDeclaration>>): TypeGraph => typeGraph(map(declared));
const inlined = (type: string): FieldDeclaration => ({ name: type, type, inline: true });
const names = (graph: TypeGraph, key: string): readonly string[] => graph.of(key).fields.map(({ name }) => name);

describe('Type', () => {
  it('has inlined fields where their type is inlined', () => {
    const graph = graphOf({
      'x.A': fields('a', inlined('x.B'), 'z'),
      'x.B': fields('b', inlined('x.C'), 'd'),
      'x.C': fields('c'),
    });
    assert.deepEqual(names(graph, 'x.A'), ['a', 'b', 'c', 'd', 'z']);
    const field = graph.of('x.A').field('c');
    assert.equal(field?.owner, graph.of('x.C'), 'knows who declares it');
    assert.equal(field, graph.of('x.C').fields[0]);
    assert.deepEqual(
      graph.of('x.A').declared.map(({ name, type }) => [name, type.key]),
      [
        ['a', 'string'],
        ['x.B', 'x.B'],
        ['z', 'string'],
      ],
    );
  });

  it('counts its own field where names meet, else the first one', () => {
    const int = { name: 'b', type: 'int32' };
    const graph = graphOf({
      'x.Own': fields(inlined('x.B'), 'a', int),
      'x.First': fields(inlined('x.B'), inlined('x.C')),
      'x.B': fields('b', 'c'),
      'x.C': fields('d', int),
    });
    assert.deepEqual(names(graph, 'x.Own'), ['c', 'a', 'b']);
    assert.equal(graph.of('x.Own').field('b')?.type.scalar, 'int32');
    assert.deepEqual(names(graph, 'x.First'), ['b', 'c', 'd']);
    assert.equal(graph.of('x.First').field('b')?.type.scalar, 'string');
  });

  it('leaves out what JSON hides', () => {
    const graph = graphOf({ 'x.A': fields('a', { name: 'b', type: 'bytes', jsonHidden: true }) });
    assert.deepEqual([names(graph, 'x.A'), graph.of('x.A').declared.length], [['a'], 1]);
    assert.equal(graph.of('x.A').field('b'), undefined);
  });

  it('may contain itself', () => {
    const graph = graphOf({ 'x.Tree': fields({ name: 'children', type: 'x.Tree', list: true }) });
    const tree = graph.of('x.Tree');
    assert.equal(tree.field('children')?.type, tree);
    assert.equal(tree.field('children')?.holds, 'list');
  });

  it('says how its values look', () => {
    const graph = graphOf({
      'x.Time': { scalar: 'time' },
      'x.List': { listOf: 'x.Time' },
      'x.Either': { jsonForm: 'one of two', ...fields('a', 'b') },
      'x.A': fields({ name: 'm', type: 'x.List', map: true }),
    });
    const forms = ['x.Time', 'x.List', 'x.Either', 'x.A'].map((key) => graph.of(key).form);
    assert.deepEqual(forms, ['scalar', 'list', 'choice', 'struct']);
    assert.equal(graph.of('x.List').items, graph.of('x.Time'));
    assert.deepEqual([graph.of('x.A').field('m')?.holds, graph.of('x.A').field('m')?.type.key], ['map', 'x.List']);
  });

  it('throws at the first use of a reference to nothing', () => {
    const graph = graphOf({ 'x.A': fields({ name: 'a', type: 'x.Gone' }), 'x.B': fields(inlined('x.Gone')) });
    const [field] = graph.of('x.A').fields;
    assert.throws(() => field?.type, /No declaration of type x\.Gone/);
    assert.throws(() => graph.of('x.B').fields, /No declaration of type x\.Gone/);
  });
});

describe('TypeGraph', () => {
  it('knows no key that is not declared, and no scalar', () => {
    const graph = graphOf({ 'x.A': fields() });
    for (const key of ['x.B', 'string', '', '__proto__']) {
      assert.equal(graph.get(key), undefined, key);
      assert.throws(() => graph.of(key), new Error(`No declaration of type ${key}`));
    }
  });

  it('asks for a declaration when its type is first asked for', () => {
    const asked: string[] = [];
    const declared = map({ 'x.A': fields({ name: 'b', type: 'x.B' }), 'x.B': fields() });
    const graph = typeGraph({
      keys: () => declared.keys(),
      get: (key) => {
        asked.push(key);
        return declared.get(key);
      },
    });
    const [field] = graph.of('x.A').fields;
    assert.deepEqual(asked, ['x.A']);
    assert.equal(field?.type, graph.of('x.B'));
    assert.deepEqual(asked, ['x.A', 'x.B']);
  });
});

describe('TypeGraph.with()', () => {
  const first = graphOf({ 'meta.Object': fields('name') });
  const ref = (name: string, type: string): FieldDeclaration => ({ name, type });
  const declared = {
    'c.Root': fields(ref('metadata', 'meta.Object'), ref('spec', 'c.Spec')),
    'c.Spec': fields('size', ref('again', 'c.Root')),
    'c.Other': fields('size'),
    'd/v1.Root': fields('size'),
  };
  const graph = first.with(map(declared), []);

  it('adds types that lead to each other and to those that were there', () => {
    const root = graph.of('c.Root');
    assert.equal(root.field('metadata')?.type, first.of('meta.Object'));
    assert.equal(root.field('spec')?.type.field('again')?.type, root);
    assert.deepEqual([...graph.keys()].sort(), ['c.Other', 'c.Root', 'c.Spec', 'd/v1.Root', 'meta.Object']);
    assert.equal(first.get('c.Root'), undefined, 'and leaves the graph before as it was');
  });

  it('shares what stays the same, and makes anew all that leads to what changed', () => {
    const next = graph.with(map({ 'c.Spec': fields('length', ref('again', 'c.Root')) }), []);
    for (const key of ['c.Other', 'd/v1.Root']) assert.equal(next.of(key), graph.of(key), key);
    assert.equal(next.of('meta.Object'), graph.of('meta.Object'));
    assert.notEqual(next.of('c.Root'), graph.of('c.Root'));
    assert.equal(next.of('c.Root').field('spec')?.type, next.of('c.Spec'));
    assert.equal(next.of('c.Spec').field('again')?.type, next.of('c.Root'));
    assert.ok(graph.of('c.Root').field('spec')?.type.field('size'), 'the graph before has the type of before');
  });

  it('shares a type that is declared by the very same declaration', () => {
    const next = graph.with(map(declared), ['c.Root']);
    for (const key of graph.keys()) assert.equal(next.of(key), graph.of(key), key);
  });

  it('resolves references of a shared type that were not used before', () => {
    const fresh = first.with(map(declared), []);
    const next = fresh.with(map({ 'c.New': fields() }), ['c.Other']);
    assert.equal(next.of('c.Root'), fresh.of('c.Root'));
    assert.equal(next.of('c.Root').field('spec')?.type, fresh.of('c.Spec'));
  });

  it('removes types; what still leads to one fails when it is used', () => {
    const next = graph.with(map({}), ['c.Spec', 'c.Nothing', 'meta.Object']);
    assert.equal(next.get('c.Spec'), undefined);
    assert.ok(next.get('meta.Object'), 'types that the graph began with stay');
    assert.throws(() => next.of('c.Root').field('spec')?.type, /No declaration of type c\.Spec/);
    const again = next.with(map({ 'c.Spec': declared['c.Spec'] }), []);
    assert.equal(again.of('c.Root').field('spec')?.type, again.of('c.Spec'));
    assert.equal(graph.of('c.Root').field('spec')?.type, graph.of('c.Spec'));
  });

  it('refers to nothing of another group version that came later', () => {
    const next = graph.with(map({ 'd/v2.Root': fields(ref('other', 'd/v1.Root'), ref('own', 'd/v2.Root')) }), []);
    const root = next.of('d/v2.Root');
    assert.equal(root.field('own')?.type, root);
    assert.throws(() => root.field('other')?.type, /No declaration of type d\/v1\.Root/);
  });

  it('lets old types go, though those that stay were made beside them', async () => {
    const keys = ['g/v1.A', 'g/v1.B', 'g/v1.C'];
    const declaration = (next: string): TypeDeclaration => fields(ref('metadata', 'meta.Object'), ref('next', next));
    let next = first.with(new Map(keys.map((key) => [key, declaration('string')])), []);
    const old: WeakRef<Type>[] = [];
    for (let i = 0; i < 30; i++) {
      const [key = '', other = ''] = [keys[i % 3], keys[(i + 1) % 3]];
      next = next.with(new Map([[key, declaration(i % 2 === 0 ? 'string' : other)]]), []);
      for (const { type } of next.of(key).fields) if (type.scalar === undefined) old.push(new WeakRef(type));
      old.push(new WeakRef(next.of(key)));
    }
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const present = new Set([...next.keys()].map((key) => next.of(key)));
    const kept = (): readonly unknown[] =>
      old.map((it) => it.deref()).filter((type) => type !== undefined && !present.has(type));
    for (let i = 0; i < 10 && kept().length > 0; i++) {
      await nextTurn(); // what a turn has looked at stays to its end
      collect();
    }
    assert.equal(kept().length, 0);
  });

  it('refuses another declaration of a type that the graph began with', () => {
    assert.throws(() => graph.with(map({ 'meta.Object': fields() }), []), /meta\.Object is declared already/);
  });
});

describe('facet()', () => {
  it('compiles a type once, in whatever graph it is', () => {
    const made: string[] = [];
    const compiled = facet((type) => {
      made.push(type.key);
      return { names: type.fields.map(({ name }) => name) };
    });
    const graph = graphOf({ 'x.A': fields('a') });
    const next = graph.with(map({ 'x.B': fields('b') }), []);
    assert.equal(compiled(graph.of('x.A')), compiled(next.of('x.A')));
    assert.deepEqual(compiled(next.of('x.B')).names, ['b']);
    const last = next.with(map({ 'x.B': fields('c') }), []);
    assert.deepEqual(compiled(last.of('x.B')).names, ['c']);
    assert.deepEqual(made, ['x.A', 'x.B', 'x.B']);
  });
});
