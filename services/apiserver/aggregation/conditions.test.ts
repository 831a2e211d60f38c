import assert from 'node:assert/strict';
import { placeProblem } from './conditions.js';

const route = { service: { namespace: 'n', name: 's', port: 443 } };
const service = { spec: { ports: [{ port: 443, name: 'https' }] } };
const ready = { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ name: 'https', port: 8443 }] }] };
const reason = (around: Partial<Parameters<typeof placeProblem>[1]>): string | undefined =>
  placeProblem(route, { service, endpoints: ready, ...around })?.reason;

describe('placeProblem()', () => {
  it('says what is missing on the way to a server', () => {
    assert.equal(reason({}), undefined);
    assert.equal(reason({ service: undefined }), 'ServiceNotFound');
    assert.equal(reason({ service: { spec: { type: 'ClusterIP', ports: [{ port: 80 }] } } }), 'ServicePortError');
    assert.equal(reason({ endpoints: undefined }), 'EndpointsNotFound');
    assert.equal(reason({ endpoints: {} }), 'MissingEndpoints');
    const [subset] = ready.subsets;
    assert.equal(reason({ endpoints: { subsets: [{ ...subset, addresses: [] }] } }), 'MissingEndpoints');
    assert.equal(reason({ endpoints: { subsets: [{ ...subset, ports: [{ name: 'other', port: 1 }] }] } }), 'MissingEndpoints'); // prettier-ignore
  });

  it('knows nothing of services of other types', () => {
    assert.equal(reason({ service: { spec: { type: 'ExternalName', externalName: 'x' } }, endpoints: undefined }), undefined); // prettier-ignore
  });

  it('names what it tells of', () => {
    assert.equal(placeProblem(route, { service, endpoints: {} })?.message, 'endpoints for service/s in "n" have no addresses with port name "https"'); // prettier-ignore
  });
});
