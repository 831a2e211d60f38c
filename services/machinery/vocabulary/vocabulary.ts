/** Which words an installation speaks. Fixed at a store's first start (design, decision 2). */
export type VocabularyName = 'platform' | 'kubernetes';
