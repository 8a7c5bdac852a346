-- Questions that need several people: who said yes so far, as JSON, with their roles and how they proved who they are.
ALTER TABLE approval ADD COLUMN yeses TEXT NOT NULL DEFAULT '[]';
