import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import assert from 'node:assert/strict';
import { qualified } from '../../machinery/meta/status.js';
import { loadCatalog } from '../../machinery/types/catalog.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { partOf } from '../registry/parts.js';
import type { RequestVerb } from '../request/request.js';
import { operations } from './operation-table.js';
import type { OperationDeps } from './operation.js';

const words = vocabulary('platform');
const { resources } = loadCatalog(words);

describe('operations()', () => {
  const table = operations({ vocabulary: words, resources: { allStored: () => [] } } as unknown as OperationDeps); // nothing is run
  const operation = ({ group, resource }: ResourceDeclaration, part: string, verb: string): unknown =>
    table.get(group)?.get(`${resource}${part}`)?.[verb as RequestVerb];

  it('has what every sub-resource is that is no part of its object', () => {
    const missing = resources.flatMap((declaration) =>
      declaration.subresources
        .filter(({ name }) => partOf(name) === undefined)
        .flatMap(({ name, verbs }) =>
          verbs
            .filter((verb) => operation(declaration, `/${name}`, verb) === undefined)
            .map((verb) => `${verb} ${qualified(declaration)}/${name}`),
        ),
    );
    assert.deepEqual(missing, []);
  });

  it('has what every resource is that is not stored', () => {
    const missing = resources
      .filter(({ virtual }) => virtual)
      .flatMap((declaration) =>
        declaration.verbs
          .filter((verb) => operation(declaration, '', verb) === undefined)
          .map((verb) => `${verb} ${qualified(declaration)}`),
      );
    assert.deepEqual(missing, []);
  });
});
