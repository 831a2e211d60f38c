import assert from 'node:assert/strict';
import { processorMs } from '../../../../machinery/testing/processor-time.js';
import { KindUnderTest } from '../testing/cases.js';

/** What fits into a body, and asks for as much work as it can. */
describe('validation of hostile objects', () => {
  const many = <T>(make: (i: number) => T): readonly T[] => Array.from({ length: 20_000 }, (_, i) => make(i));
  const metadata = { name: 'x', namespace: 'default' };

  function takesLittle(work: () => void): void {
    const ms = processorMs(work);
    assert.ok(ms < 4_000, `took ${ms} ms`); // quadratic would be minutes
  }

  it('looks at a pod in time linear in its size', () => {
    const kind = new KindUnderTest({ resource: 'pods', type: 'core/v1.Pod' });
    const spec = {
      containers: [
        {
          name: 'x',
          image: 'x',
          volumeMounts: many((i) => ({ name: `${i}`, mountPath: `/${i}` })),
          volumeDevices: many((i) => ({ name: `d${i}`, devicePath: `/d/${i}` })),
          env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: "['".repeat(20_000) } } }],
        },
        ...many((i) => ({ name: `c${i}` })),
      ],
      tolerations: many((i) => ({ key: `k${i}`, operator: 'Exists' })),
    };
    const pod = kind.decoded({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
    takesLittle(() => {
      const problems: [] = [];
      kind.validation.object?.(pod, problems);
      void kind.validation.update?.(pod, pod, problems);
      assert.equal(problems.length, 1000);
    });
  });

  it('shows a list of scopes once for each that is wrong, and not whole', () => {
    const kind = new KindUnderTest({ resource: 'resourcequotas', type: 'core/v1.ResourceQuota' });
    const hard = Object.fromEntries(many((i) => [`hugepages-${i}`, '1']));
    const spec = { hard, scopes: many((i) => `s${i}`) };
    const quota = kind.decoded({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec });
    takesLittle(() => {
      const problems: { message: string }[] = [];
      kind.validation.object?.(quota, problems as []);
      assert.equal(problems.length, 1000);
      assert.ok(problems.every(({ message }) => message.length < 5000));
    });
  });
});
