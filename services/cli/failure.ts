/** What a command could not do. Its message is one line for the person who called it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
