import assert from 'node:assert/strict';
import { FlagError } from '../../../machinery/flags/flags.js';
import { parseIp } from './ip.js';
import { addressAt, offsetOf, parseAddressRanges, parsePortRange } from './ranges.js';

const ranges = (...texts: string[]): ReturnType<typeof parseAddressRanges> => parseAddressRanges('r', texts);
const refuses = (read: () => unknown, message: RegExp): void => {
  assert.throws(read, (err: Error) => err instanceof FlagError && message.test(err.message));
};

describe('parseAddressRanges()', () => {
  it('leaves out the addresses of the network and of all of it', () => {
    const [range] = ranges('10.96.7.9/24');
    assert.deepEqual([range.text, range.size], ['10.96.7.0/24', 254]);
    assert.deepEqual([addressAt(range, 0), addressAt(range, range.size - 1)], ['10.96.7.1', '10.96.7.254']);
    const [six] = ranges('fd00::/120');
    assert.deepEqual([addressAt(six, 0), addressAt(six, six.size - 1)], ['fd00::1', 'fd00::ff']);
  });

  it('takes one range of each family, in the order given', () => {
    assert.deepEqual(ranges('fd00::/108', '10.96.0.0/12').map(({ family }) => family), ['IPv6', 'IPv4']); // prettier-ignore
  });

  it('keeps a sixteenth for those who ask, 16 at least and 256 at most', () => {
    const kept = ['10.0.0.0/12', '10.0.0.0/21', '10.0.0.0/25', '10.0.0.0/28'].map((text) => ranges(text)[0].lastChosen);
    assert.deepEqual(kept, [256, 127, 16, 0]);
  });

  it('refuses what cannot be used, in one line that says why', () => {
    refuses(() => ranges(), /^Cannot parse --r: "" has no range$/);
    refuses(() => ranges('10.0.0.0/24', 'fd00::/112', '10.0.1.0/24'), /more than two ranges/);
    refuses(() => ranges('10.0.0.0/24', '10.0.1.0/24'), /two ranges of IPv4/);
    refuses(() => ranges('10.0.0.0/11'), /too large: an IPv4 range needs a prefix of \/12 or longer/);
    refuses(() => ranges('fd00::/107'), /too large: an IPv6 range needs a prefix of \/108 or longer/);
    refuses(() => ranges('10.0.0.0/30'), /too small/);
    for (const text of ['10.0.0.0', '10.0.0.0/33', '10.0.0/24', '10.0.0.0/24/8', 'x', '10.0.0.0/-1']) {
      refuses(() => ranges(text), /is no network/);
    }
  });
});

describe('offsetOf()', () => {
  it('tells where an address is in a range, if it is', () => {
    const [range] = ranges('10.96.0.0/24');
    const at = (text: string): number | undefined => offsetOf(range, parseIp(text) ?? assert.fail(text));
    assert.deepEqual([at('10.96.0.1'), at('10.96.0.254')], [0, 253]);
    for (const text of ['10.96.0.0', '10.96.0.255', '10.95.255.255', '::a60:1']) assert.equal(at(text), undefined);
  });
});

describe('parsePortRange()', () => {
  it('reads first and last, or first and how many', () => {
    assert.deepEqual(parsePortRange('p', '30000-32767'), { text: '30000-32767', first: 30000, size: 2768, lastChosen: 86 }); // prettier-ignore
    assert.equal(parsePortRange('p', '30000+10').text, '30000-30009');
  });

  it('refuses what is none', () => {
    for (const text of ['', '30000', '2-1', '0-10', '1-65536', '65535+2', '1+0', 'a-b', '-1-2']) {
      refuses(() => parsePortRange('p', text), /is no range of ports/);
    }
  });
});
