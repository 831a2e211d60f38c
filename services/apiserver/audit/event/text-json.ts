/**
 * A text as JSON. Events are put together from pieces, and a piece that is no JSON would make the line unreadable.
 *
 * @throws {TypeError} for anything but a text, whatever its type says
 */
export function textJson(text: string): string {
  if (typeof text !== 'string') throw new TypeError(`Cannot write a value of type ${typeof text} as a text`);
  return JSON.stringify(text);
}
