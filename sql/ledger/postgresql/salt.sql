select salt from salts
where key = %(key)s
