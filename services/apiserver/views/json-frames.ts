/** A frame of a watch in JSON: one document a line. */
export const jsonFrame = (type: string, object: Buffer | string): Buffer =>
  Buffer.concat([
    Buffer.from(`{"type":"${type}","object":`),
    typeof object === 'string' ? Buffer.from(object) : object,
    END,
  ]);

const END = Buffer.from('}\n');

export const jsonError = (status: object): Buffer => jsonFrame('ERROR', JSON.stringify(status));
