/** A service gave no answer that can be used. Its message holds nothing that was asked. */
export class ReviewError extends Error {
  override readonly name = 'ReviewError';
}
