update head set seq = %(seq)s, sha256 = %(sha256)s
where sha256 = %(before)s
