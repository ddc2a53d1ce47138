insert into entries (seq, body, sha256) values (:seq, :body, :sha256)
